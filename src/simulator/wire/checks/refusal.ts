import type { RefusedReply } from '../../shared/reply.ts'

/** Codes and messages are the vendor's; the document shows none. */
export interface WireRefusal extends RefusedReply {
  readonly status: number
}

/** Always HTTP 400, whatever the status of business errors. */
export const wireRefusals = {
  /** Observed: the exchange calls a missing key invalid, not empty. */
  keyMissing: refuse(400, '40006', 'Invalid ACCESS_KEY'),
  keyUnknown: refuse(400, '40037', 'Apikey does not exist'),
  addressUnknown: refuse(400, '40018', 'Invalid IP'),
  environmentWrong: refuse(400, '40099', 'exchange environment is incorrect'),
  signMissing: refuse(400, '40002', 'ACCESS_SIGN cannot be empty'),
  timestampMissing: refuse(400, '40003', 'ACCESS_TIMESTAMP cannot be empty'),
  timestampInvalid: refuse(400, '40005', 'Invalid ACCESS_TIMESTAMP'),
  timestampExpired: refuse(400, '40008', 'Request timestamp expired'),
  signWrong: refuse(400, '40009', 'sign signature error'),
  passphraseMissing: refuse(400, '40011', 'ACCESS_PASSPHRASE cannot be empty'),
  passphraseWrong: refuse(400, '40012', 'apikey/password is incorrect'),
  contentTypeWrong: refuse(400, '40007', 'Invalid Content_Type'),
  bodyUnreadable: refuse(400, '40007', 'Request body is not a JSON object'),
  parametersTooMany: refuse(400, '40017', 'Parameter verification failed too many parameters'),
  pathUnknown: refuse(404, '40404', 'Request URL NOT FOUND'),
  tooManyRequests: refuse(429, '429', 'Too Many Requests'),
  bodyTooLarge: refuse(413, '40007', 'Request body is too large'),
  headersTooMany: refuse(431, '40007', 'Too many request headers'),
  internal: refuse(500, '40725', 'service return an error'),
} as const

/** Document, Errors: HTTP status codes of the signed gateway. */
export const gatewayRefusals = {
  badRequest: (reason: string) => refuse(400, '400', `Bad Request: ${reason}`),
  forbidden: (reason: string) => refuse(403, '403', `Forbidden: ${reason}`),
} as const

function refuse(status: number, code: string, message: string): WireRefusal {
  return { ok: false, status, code, message }
}
