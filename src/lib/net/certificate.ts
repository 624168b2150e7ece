const RENEW = 'renew the certificate of the server'
const OTHER_NAME =
  'name the server in the address as its certificate does, or give it one for this name'

/** No known authority has signed it. */
const UNKNOWN_SIGNER: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])

/** Node reads copies of certificates from here. */
export const COPY_IN_VARIABLE = 'the variable NODE_EXTRA_CA_CERTS'

/** Undefined for other errors. @param copyIn setting that names a copy of the certificate */
export function adviseCertificate(error: unknown, copyIn: string): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'CERT_HAS_EXPIRED') return RENEW
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return OTHER_NAME
  return UNKNOWN_SIGNER.has(code)
    ? `if nobody known has signed its certificate, name a copy of it in ${copyIn}`
    : undefined
}
