// What the page asks of the daemon. The token is sent as a header, kept for this tab alone, and never part of an address.

const KEPT = 'intentd.token'

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
  if (value === undefined) sessionStorage.removeItem(KEPT)
  else sessionStorage.setItem(KEPT, value)
}

export async function request(path, options = {}) {
  const headers = { ...options.headers, ...(token() === null ? {} : { Authorization: `Bearer ${token()}` }) }
  const response = await fetch(path, { ...options, headers, cache: 'no-store', redirect: 'error' })
  if (response.ok) return response
  const body = await response.json().catch(() => ({}))
  throw new Refused(response.status, body.error ?? `the daemon answered ${response.status}`)
}

export async function read(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return (await request(given.length === 0 ? path : `${path}?${search}`)).json()
}

async function post(path, body) {
  const headers = { 'Content-Type': 'application/json' }
  return (await request(path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
}

/** `requestId` names the command: sent again after a lost answer it is not obeyed again. */
export function command({ requestId, order, reason }) {
  return post('/v1/commands', { requestId, order, reason, by: 'dashboard' })
}

export function newRequestId() {
  return [...crypto.getRandomValues(new Uint8Array(12))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}

/** The code of the address, taken out of it at once, is exchanged for the token. */
export async function enterByCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return undefined
  history.replaceState(null, '', '/')
  const { token: found } = await post('/v1/session', { code })
  keepToken(found)
  return found
}
