export {
  AppError,
  badRequest,
  gone,
  isAppError,
  notFound,
  type AppErrorDetails,
  type ErrorMembers,
  isReason,
  reasons,
  type Reason,
  type RpcCode,
} from "./app-error.ts";
