import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { deadlineExceeded } from "@tidemark/work";
import { AppError, isAppError, isReason, reasons, type RpcCode } from "@tidemark/errors";
import { ErrorDetailSchema, RefusalSchema, type ErrorDetail, type Refusal } from "@tidemark/proto/common/v1/common";

const codes: Record<RpcCode, Code> = {
  invalid_argument: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  permission_denied: Code.PermissionDenied,
  not_found: Code.NotFound,
  already_exists: Code.AlreadyExists,
  aborted: Code.Aborted,
  failed_precondition: Code.FailedPrecondition,
  out_of_range: Code.OutOfRange,
  resource_exhausted: Code.ResourceExhausted,
  unavailable: Code.Unavailable,
  deadline_exceeded: Code.DeadlineExceeded,
  unimplemented: Code.Unimplemented,
  internal: Code.Internal,
};

const DETAIL_TYPE = ErrorDetailSchema.typeName;

/** Turns an error that is not an AppError into `internal`; its text stays here. */
function known(error: unknown): AppError {
  return isAppError(error) ? error : new AppError("internal", "internal error", { cause: error });
}

function detailOf(error: AppError): ErrorDetail {
  return create(ErrorDetailSchema, {
    reason: error.reason,
    field: error.field ?? "",
    position: error.position ?? 0,
    retryAfterSeconds: error.retryAfterSeconds ?? 0,
  });
}

/** Returns an error in the form in which it crosses a process border. */
export function toConnectError(error: unknown): ConnectError {
  const shown = known(error);
  const wire = new ConnectError(shown.message, codes[reasons[shown.reason].rpc], undefined, undefined, error);
  wire.details.push({ desc: ErrorDetailSchema, value: detailOf(shown) });
  return wire;
}

/** Returns an error as a part of an answer, where several things share a call. */
export function toRefusal(error: unknown): Refusal {
  const shown = known(error);
  return create(RefusalSchema, { detail: detailOf(shown), text: shown.message });
}

/** Returns the error of such a part. */
export function fromRefusal({ detail, text }: Refusal): AppError {
  return detail === undefined ? new AppError("internal", "internal error") : fromDetail(detail, text);
}

function fromDetail(detail: ErrorDetail, text: string): AppError {
  return new AppError(isReason(detail.reason) ? detail.reason : "internal", text, {
    ...(detail.field === "" ? {} : { field: detail.field }),
    ...(detail.position === 0 ? {} : { position: detail.position }),
    ...(detail.retryAfterSeconds === 0 ? {} : { retryAfterSeconds: detail.retryAfterSeconds }),
  });
}

/** The JSON body of a unary Connect error (https://connectrpc.com/docs/protocol, Error End-Stream). */
export type ConnectErrorJson = { code: RpcCode; message: string; details: { type: string; value: string }[] };

/** Writes an error as Connect's unary error body. */
export function errorToJson(error: unknown): ConnectErrorJson {
  const shown = known(error);
  const detail = toBinary(ErrorDetailSchema, detailOf(shown));
  return {
    code: reasons[shown.reason].rpc,
    message: shown.message,
    details: [{ type: DETAIL_TYPE, value: base64Encode(detail, "std_raw") }],
  };
}

/** Reads Connect's unary error body; any other body means that the peer is not available. */
export function errorFromJson(body: string): AppError {
  try {
    const json = JSON.parse(body) as Partial<ConnectErrorJson>;
    const detail = json.details?.find(({ type }) => type === DETAIL_TYPE);
    if (detail !== undefined) {
      return fromDetail(fromBinary(ErrorDetailSchema, base64Decode(detail.value)), json.message ?? "");
    }
    if (json.code === "deadline_exceeded") return deadlineExceeded();
    if (json.code === "unavailable") return peerUnavailable(json.message);
    return new AppError("internal", "internal error", { cause: new Error(body.slice(0, 500)) });
  } catch (cause) {
    return peerUnavailable(cause);
  }
}

/** Returns the error for a peer process that could not be reached or did not speak our protocol. */
export function peerUnavailable(cause: unknown): AppError {
  return new AppError("service_unavailable", "a part of the service is not available; try again", {
    retryAfterSeconds: 1,
    cause,
  });
}
