export {
  AppError,
  badRequest,
  gone,
  isAppError,
  notFound,
  type AppErrorDetails,
  type ErrorMembers,
} from "./app-error.ts";
export { isReason, reasons, type Reason, type RpcCode } from "./reasons.ts";
