export {
  AppError,
  badRequest,
  gone,
  isAppError,
  notFound,
  isReason,
  reasons,
  type AppErrorDetails,
  type ErrorMembers,
  type Reason,
  type RpcCode,
} from "./app-error.ts";
