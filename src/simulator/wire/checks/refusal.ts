/**
 * Why the wire turned a request away before the exchange itself saw it. The codes and messages are the
 * vendor's; the document shows none.
 */
export interface Refusal {
  readonly ok: false
  readonly status: number
  readonly code: string
  readonly message: string
}

/** Requests that are not understood at all: always HTTP 400, whatever business errors get. */
export const refusals = {
  /** Measured on the real exchange: a missing key is called invalid, not empty. */
  keyMissing: refuse(400, '40006', 'Invalid ACCESS_KEY'),
  keyUnknown: refuse(400, '40037', 'Apikey does not exist'),
  addressUnknown: refuse(400, '40018', 'Invalid IP'),
  signMissing: refuse(400, '40002', 'ACCESS_SIGN cannot be empty'),
  timestampMissing: refuse(400, '40003', 'ACCESS_TIMESTAMP cannot be empty'),
  timestampInvalid: refuse(400, '40005', 'Invalid ACCESS_TIMESTAMP'),
  timestampExpired: refuse(400, '40008', 'Request timestamp expired'),
  signWrong: refuse(400, '40009', 'sign signature error'),
  passphraseMissing: refuse(400, '40011', 'ACCESS_PASSPHRASE cannot be empty'),
  passphraseWrong: refuse(400, '40012', 'apikey/password is incorrect'),
  contentTypeWrong: refuse(400, '40007', 'Invalid Content_Type'),
  bodyUnreadable: refuse(400, '40007', 'Request body is not a JSON object'),
  pathUnknown: refuse(404, '40404', 'Request URL NOT FOUND'),
  tooManyRequests: refuse(429, '429', 'Too Many Requests'),
  bodyTooLarge: refuse(413, '40007', 'Request body is too large'),
  headersTooMany: refuse(431, '40007', 'Too many request headers'),
  internal: refuse(500, '40725', 'service return an error'),
} as const satisfies Record<string, Refusal>

/** Document, Errors: the HTTP status codes of the signed gateway. The codes repeat them; they are our own. */
export const gatewayRefusals = {
  badRequest: (reason: string) => refuse(400, '400', `Bad Request: ${reason}`),
  forbidden: (reason: string) => refuse(403, '403', `Forbidden: ${reason}`),
} as const

/** A value that the exchange cannot accept. `status` is that of business errors, a setting of the wire. */
export const parameterRefusals = {
  missing: (name: string, status: number) => refuse(status, '40019', `Parameter ${name} cannot be empty`),
  malformed: (name: string, status: number) => refuse(status, '40020', `Parameter ${name} error`),
  illegal: (name: string, status: number) =>
    refuse(status, '400172', `Parameter verification failed ${name}`),
  unknownName: (name: string, status: number) => refuse(status, '40034', `Parameter ${name} does not exist`),
  outOfRange: (name: string, range: string, status: number) =>
    refuse(status, '40053', `Value range verification failed: ${name} should be between ${range}`),
  tooManyOrders: (max: number, status: number) =>
    refuse(status, '40306', `Batch processing orders can only process up to ${max}`),
  broken: (rule: string, status: number) => refuse(status, '40017', `Parameter verification failed ${rule}`),
  outsideWindow: (status: number) =>
    refuse(status, '40078', 'Timestamp for this request is outside of the ME receiveWindow.'),
  windowTooLong: (status: number) => refuse(status, '40079', 'receiveWindow timestamp must be less than 60s'),
} as const

function refuse(status: number, code: string, message: string): Refusal {
  return { ok: false, status, code, message }
}
