import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { randomHex } from '../lib/entropy.ts'
import { Failure } from '../lib/failure.ts'
import { Secret } from '../lib/secret.ts'

const TOKEN_BYTES = 32
const OWNER_ONLY = 0o600
const OTHERS = 0o077
const TOKEN = /^[\x21-\x7e]{32,512}$/

/**
 * The token of the control port; made where there is none.
 * @throws Failure CONTROL_TOKEN_EXPOSED where others may read it, CONTROL_TOKEN_INVALID where it is none
 */
export function openToken(file: string): Secret {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) {
    writeFileSync(file, `${randomHex(TOKEN_BYTES)}\n`, { mode: OWNER_ONLY, flag: 'wx' })
    chmodSync(file, OWNER_ONLY)
  } else if ((found.mode & OTHERS) !== 0 && process.platform !== 'win32') {
    throw new Failure({
      code: 'CONTROL_TOKEN_EXPOSED',
      sentence: 'the token of the control port can be read by others',
      facts: { file, mode: (found.mode & 0o777).toString(8) },
      hint: `remove it, and the next start makes a new one; or chmod 600 ${file} if nobody can have read it`,
    })
  }
  return readToken(file)
}

/** @throws Failure CONTROL_TOKEN_INVALID; whatever reading it throws */
function readToken(file: string): Secret {
  const text = readFileSync(file, 'utf8').trim()
  if (TOKEN.test(text)) return new Secret(text)
  throw new Failure({
    code: 'CONTROL_TOKEN_INVALID',
    sentence: 'the token of the control port is too short, or no line of printable characters',
    facts: { file },
    hint: 'remove the file: the next start makes one',
  })
}
