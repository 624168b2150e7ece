// Loaded before a daemon: `localhost` has no address for as long as the file `no-names` is in the directory it runs in,
// and 127.0.0.1 otherwise.
import dns, { type LookupAddress } from 'node:dns'
import { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Answered = (
  error: Error | null,
  found?: string | readonly LookupAddress[],
  family?: number,
) => void

const LOOPBACK: LookupAddress = { address: '127.0.0.1', family: 4 }
const lookup = dns.lookup as unknown as (name: string, options: object, answered: Answered) => void

function lookUp(name: string, options: { readonly all?: boolean }, answered: Answered): void {
  if (name !== 'localhost') return lookup(name, options, answered)
  process.nextTick(() => {
    if (existsSync('no-names')) {
      const error = new Error(`getaddrinfo ENOTFOUND ${name}`)
      answered(Object.assign(error, { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: name }))
    } else if (options.all === true) answered(null, [LOOPBACK])
    else answered(null, LOOPBACK.address, LOOPBACK.family)
  })
}

Object.assign(dns, { lookup: lookUp })
syncBuiltinESMExports()
