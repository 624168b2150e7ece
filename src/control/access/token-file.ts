import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { writeDurably } from '../../lib/durable-file.ts'
import { randomHex } from '../../lib/entropy.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { Secret } from '../../lib/secret.ts'

const TOKEN_BYTES = 32
const OWNER_ONLY = 0o600
const OWNER_AND_GROUP = 0o640
const SETGID = 0o2000
const OTHERS = 0o077
/** A group, such as that of Prometheus, may read the file. */
const OTHERS_BUT_GROUP_READS = 0o037
const TOKEN = /^[\x21-\x7e]{32,512}$/

export interface TokenFiles {
  readonly full: string
  readonly read: string
  /** For assistants; absent: the port serves no assistants. */
  readonly agent?: string
  /**
   * Files that the configuration names. One with other contents may be meant for another use, and
   * is not overwritten.
   */
  readonly named?: readonly string[]
}

export function listTokenFiles({ full, read, agent }: TokenFiles): readonly string[] {
  return agent === undefined ? [full, read] : [full, read, agent]
}

export interface ControlTokens {
  readonly full: Secret
  readonly read: Secret
  readonly agent?: Secret
}

/** Keyed by file. A reload keeps the token of open pages; a new process makes another one. */
const commandingTokens = new Map<string, Secret>()

/**
 * The command token is new for each process (docs/control.md, "What protects it"). The others stay,
 * because other programs have copies.
 * @param onRenewed called when a lasting token was damaged and replaced, so that its copies open
 * nothing any more
 * @throws Failure CONTROL_TOKEN_EXPOSED if others may read one, CONTROL_TOKEN_INVALID,
 * CONTROL_TOKEN_UNREADABLE, CONTROL_TOKENS_EQUAL if one could do what another is for
 */
export function openTokens(
  files: TokenFiles,
  onRenewed: (file: string) => void = () => {},
): ControlTokens {
  const { full: fullFile, read: readFile, agent: agentFile } = files
  const full = attempt(fullFile, () => renewToken(fullFile, files))
  const openLasting = (file: string): Secret =>
    attempt(file, () => makeOrReadToken(file, files, onRenewed))
  const read = openLasting(readFile)
  const agent = agentFile && openLasting(agentFile)
  const tokens = { full, read, ...(agent && { agent }) }
  const texts = Object.values(tokens).map((token) => token.reveal())
  if (new Set(texts).size === texts.length) return tokens
  throw new Failure({
    code: 'CONTROL_TOKENS_EQUAL',
    sentence: 'two tokens of the control port are the same, so one could do what the other is for',
    facts: { full: fullFile, read: readFile, ...(agentFile && { agent: agentFile }) },
    hint: 'name a file for each, or remove one of them: the next start makes another',
  })
}

/**
 * Checks whether a start could open the tokens; writes nothing.
 * @throws like {@link openTokens}
 */
export function assertTokens(files: TokenFiles): void {
  const { full, read, agent } = files
  attempt(full, () => assertRenewable(full, files))
  const lasting = agent === undefined ? [read] : [read, agent]
  for (const file of lasting) attempt(file, () => lookAtLasting(file, files))
  for (const file of [full, ...lasting.filter((one) => !existsSync(one))])
    attempt(file, () => accessSync(dirname(file), constants.W_OK))
}

function attempt<Result>(file: string, use: () => Result): Result {
  try {
    return use()
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure({
      code: 'CONTROL_TOKEN_UNREADABLE',
      sentence: 'a token of the control port can be neither read nor made',
      facts: { file, reason: messageOf(error) },
      hint: 'make its folder, or the file itself (openssl rand -hex 32), readable by the user of the daemon; control.tokenFile is written at each start',
    })
  }
}

function renewToken(file: string, files: TokenFiles): Secret {
  assertRenewable(file, files)
  const token = commandingTokens.get(file) ?? new Secret(randomHex(TOKEN_BYTES))
  // A half-written file would keep its mode.
  rmSync(`${file}.new`, { force: true })
  writeDurably(file, `${token.reveal()}\n`)
  commandingTokens.set(file, token)
  return token
}

/**
 * The file's token is replaced. A file that the configuration names must hold a token or be blank.
 */
function assertRenewable(file: string, { named }: TokenFiles): void {
  const text = lookAt(file, OTHERS)
  const isBlank = /^[\0\s]*$/.test(text ?? '')
  if (text !== undefined && !isBlank && named?.includes(file)) toToken(file, text)
}

/** Undefined without a file, and if the daemon's own file is damaged. */
function lookAtLasting(file: string, { named }: TokenFiles): Secret | undefined {
  const text = lookAt(file, OTHERS_BUT_GROUP_READS)
  if (text === undefined) return undefined
  return TOKEN.test(text) || named?.includes(file) ? toToken(file, text) : undefined
}

function makeOrReadToken(
  file: string,
  files: TokenFiles,
  onRenewed: (file: string) => void,
): Secret {
  const found = lookAtLasting(file, files)
  if (found !== undefined) return found
  const isDamaged = existsSync(file)
  rmSync(file, { force: true })
  const token = makeToken(file)
  if (isDamaged) onRenewed(file)
  return token
}

function makeToken(file: string): Secret {
  // A setgid folder was made for readers in its group.
  const isForGroup = (statSync(dirname(file)).mode & SETGID) !== 0
  const mode = isForGroup ? OWNER_AND_GROUP : OWNER_ONLY
  writeFileSync(file, `${randomHex(TOKEN_BYTES)}\n`, { mode, flag: 'wx' })
  chmodSync(file, mode)
  return toToken(file, readText(file))
}

/**
 * The text of the file; undefined without one.
 * @throws Failure CONTROL_TOKEN_EXPOSED, and errors of reading
 */
function lookAt(file: string, forbidden: number): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  if ((found.mode & forbidden) === 0 || process.platform === 'win32') return readText(file)
  const mode = forbidden === OTHERS ? '600' : '640'
  throw new Failure({
    code: 'CONTROL_TOKEN_EXPOSED',
    sentence: 'a token of the control port can be read by others',
    facts: { file, mode: (found.mode & 0o777).toString(8) },
    hint: `remove it, and the next start makes a new one; or chmod ${mode} ${file} if nobody can have read it`,
  })
}

function readText(file: string): string {
  return readFileSync(file, 'utf8').trim()
}

/** @throws Failure CONTROL_TOKEN_INVALID */
function toToken(file: string, text: string): Secret {
  if (TOKEN.test(text)) return new Secret(text)
  throw new Failure({
    code: 'CONTROL_TOKEN_INVALID',
    sentence: 'a token of the control port is too short, or no line of printable characters',
    facts: { file },
    hint: 'remove the file: the next start makes one',
  })
}
