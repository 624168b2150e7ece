// The token is a header, kept for this tab only, never part of an address. While no daemon runs,
// any user may listen at its port, so the server first proves that it knows the token
// (`/v1/proof`), again after each broken connection.

const KEPT = 'intentd.token'
const NONCE_BYTES = 32
const BUSY = [429, 503]
const BUSY_TRIES = 5
const BUSY_PAUSE_MS = 500
export const UNPROVED = 'unproved'

let isProved = false

export class Refused extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

export function token() {
  return sessionStorage.getItem(KEPT)
}

export function keepToken(value) {
  isProved = false
  if (value === undefined) sessionStorage.removeItem(KEPT)
  else sessionStorage.setItem(KEPT, value)
}

export function doubtServer() {
  isProved = false
}

export async function request(path, options = {}) {
  const own = token()
  if (own !== null && !isProved) await askForProof(own, options.signal)
  const headers = { ...options.headers, ...(own === null ? {} : { Authorization: `Bearer ${own}` }) }
  return assertOk(await send(path, { ...options, headers }))
}

async function assertOk(response) {
  if (response.ok) return response
  const body = await response.json().catch(() => ({}))
  throw new Refused(response.status, body.error ?? `the daemon answered ${response.status}`)
}

async function send(path, options) {
  try {
    return await fetch(path, { ...options, cache: 'no-store', redirect: 'error' })
  } catch (error) {
    doubtServer()
    throw error
  }
}

async function askForProof(own, signal) {
  const nonce = newNonce(NONCE_BYTES)
  const response = await sendUntilHeard(`/v1/proof?nonce=${nonce}`, { signal })
  if (BUSY.includes(response.status))
    throw new Refused(response.status, 'the daemon has too much to answer: nothing was sent, try again')
  const { proofs = [] } = response.ok ? await response.json().catch(() => ({})) : {}
  if (!Array.isArray(proofs) || !proofs.includes(await proofOf(own, nonce)))
    throw new Refused(
      UNPROVED,
      'the daemon was started anew, or another program answers at this address: the token was not sent',
    )
  // Another token may have been set meanwhile.
  isProved = token() === own
}

/** A daemon that has too much to answer is no other program. */
async function sendUntilHeard(path, options) {
  for (let left = BUSY_TRIES; ; left--) {
    const response = await send(path, options)
    if (left === 1 || !BUSY.includes(response.status)) return response
    await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS))
  }
}

/** Must equal the proof of `server-proof.ts`. */
async function proofOf(own, nonce) {
  const encode = (text) => new TextEncoder().encode(text)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encode(own), algorithm, false, ['sign'])
  return toHex(new Uint8Array(await crypto.subtle.sign('HMAC', key, encode(`intentd proof ${nonce}`))))
}

export async function read(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return (await request(given.length === 0 ? path : `${path}?${search}`)).json()
}

function asPost(body) {
  return { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
}

/** A repeated `requestId` is not obeyed again. */
export async function command({ requestId, order, reason }) {
  const asked = asPost({ requestId, order, reason, by: 'dashboard' })
  return (await request('/v1/commands', asked)).json()
}

/** A page only proposes what can add risk; an authenticator's code confirms it. */
export async function confirmProposal({ id, code }) {
  return (await request('/v1/confirmations', asPost({ id, code, by: 'dashboard' }))).json()
}

/** With its time, so that the daemon obeys none that is older than its memory. */
export function newRequestId() {
  return `${Date.now()}-${newNonce(12)}`
}

function newNonce(bytes) {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)))
}

function toHex(bytes) {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Exchanges the address's code, which is removed, for the token. */
export async function enterByCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return undefined
  history.replaceState(null, '', '/')
  // The code may be of another daemon than the tab's token.
  const { token: found } = await (await assertOk(await send('/v1/session', asPost({ code })))).json()
  keepToken(found)
  return found
}
