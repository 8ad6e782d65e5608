import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { AppError, isAppError, isReason, reasons, type RpcCode } from "@tidemark/errors";
import { ErrorDetailSchema, type ErrorDetail } from "@tidemark/proto/common/v1/common";

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

/** An error as it crosses a process border: unknown ones become `internal`, their text stays here. */
export function toConnectError(error: unknown): ConnectError {
  const known = isAppError(error) ? error : new AppError("internal", "internal error", { cause: error });
  const wire = new ConnectError(known.message, codes[reasons[known.reason].rpc], undefined, undefined, error);
  wire.details.push({
    desc: ErrorDetailSchema,
    value: {
      reason: known.reason,
      field: known.field ?? "",
      position: known.position ?? 0,
      retryAfterSeconds: known.retryAfterSeconds ?? 0,
    },
  });
  return wire;
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
  const known = isAppError(error) ? error : new AppError("internal", "internal error");
  const detail = create(ErrorDetailSchema, {
    reason: known.reason,
    field: known.field ?? "",
    position: known.position ?? 0,
    retryAfterSeconds: known.retryAfterSeconds ?? 0,
  });
  return {
    code: reasons[known.reason].rpc,
    message: known.message,
    details: [{ type: DETAIL_TYPE, value: base64Encode(toBinary(ErrorDetailSchema, detail), "std_raw") }],
  };
}

/** Reads Connect's unary error body back; a body that is none is a peer that is not well. */
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

/** 503: a peer process could not be reached or did not speak our protocol. */
export function peerUnavailable(cause: unknown): AppError {
  return new AppError("service_unavailable", "a part of the service is not available; try again", {
    retryAfterSeconds: 1,
    cause,
  });
}

/** 503: the time for this call is over. */
export function deadlineExceeded(): AppError {
  return new AppError("deadline_exceeded", "the request could not be completed in time; try again", {
    retryAfterSeconds: 1,
  });
}
