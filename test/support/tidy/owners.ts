import { lineAt } from '../source-text.ts'
import {
  type FileRule,
  type SourceFile,
  type SourceTree,
  type TreeRule,
  type Violation,
  covers,
  findAll,
} from './source-tree.ts'

/**
 * Calls that make a program unrepeatable or unstoppable, with the files (or folders) that own each.
 */
const OWNED_CALLS: readonly { call: string; pattern: RegExp; owners: readonly string[] }[] = [
  { call: 'Date.now', pattern: /\bDate\.now\b/g, owners: ['src/lib/clock.ts'] },
  { call: 'new Date() of now', pattern: /\bnew Date\b(?!\s*\(\s*[^)\s])/g, owners: [] },
  {
    call: 'performance.now',
    pattern: /\bperformance\.now\b|\bprocess\.hrtime\b/g,
    owners: ['src/lib/clock.ts'],
  },
  { call: 'Math.random', pattern: /\bMath\.random\b/g, owners: [] },
  {
    call: 'true randomness',
    pattern: /\b(?:randomBytes|randomUUID|randomInt|getRandomValues)\b/g,
    owners: ['src/lib/entropy.ts'],
  },
  {
    call: 'a timer',
    pattern: /\b(?:setTimeout|setInterval|setImmediate)\b/g,
    owners: ['src/lib/timers.ts'],
  },
  {
    call: 'process.env',
    pattern: /\bprocess\.env\b/g,
    owners: ['src/config/secrets.ts', 'src/cli/', 'bin/'],
  },
  {
    call: 'process.exit',
    pattern: /\bprocess\.exit\b/g,
    owners: ['bin/intentd.mjs', 'src/strategy/strategy-failure.ts'],
  },
  { call: 'fetch', pattern: /(?<![\w.#$])fetch\s*\(/g, owners: [] },
]

/** The only file that makes each proof of a required step. */
const PROOF_MAKERS: Readonly<Record<string, string>> = {
  Approved: 'src/risk/approve.ts',
  Recorded: 'src/engine/state/core.ts',
}

/**
 * State is read everywhere and changed by its owner: `mutable(…)` removes `readonly`. The folder of the
 * book owns it as a whole, since a record changes several parts; one file owns each piece of
 * `state/`.
 */
const MUTABLE = 'src/lib/mutable.ts'
const STATE_FOLDER = 'src/engine/state/'
/** Files outside of the folder that own exactly one piece. */
const PIECE_OWNERS: ReadonlyMap<string, string> = new Map([
  ['src/engine/resolution/resolution.ts', 'resolution'],
  ['src/engine/resolution/reconcile.ts', 'position'],
  ['src/engine/resolution/older-state.ts', 'names'],
  ['src/engine/resolution/check-setup.ts', 'setup'],
  ['src/engine/lifecycle/stop.ts', 'stop'],
  ['src/engine/lifecycle/kill.ts', 'kill'],
])
const STATE_OWNERS = ['src/engine/book/', STATE_FOLDER, ...PIECE_OWNERS.keys()]
const OWNED_TOGETHER = 'src/engine/book/'

export const OWNER_RULES: readonly FileRule[] = [
  checkOwnedCalls,
  checkProofs,
  checkOwningFolder,
  checkOwnedPiece,
]
export const STATE_RULES: readonly TreeRule[] = [checkStateOwners]

function checkOwnedCalls({ path, code }: SourceFile): Violation[] {
  return OWNED_CALLS.filter(({ owners }) => !owners.some((owner) => covers(owner, path))).flatMap(
    ({ call, pattern, owners }) =>
      findAll(code, pattern).map((line) => ({
        rule: 'owned-call',
        file: path,
        line,
        message: `uses ${call}, which ${owners.length === 0 ? 'nobody may' : `only ${owners.join(', ')} may`}`,
      })),
  )
}

function checkProofs({ path, code }: SourceFile): Violation[] {
  return Object.entries(PROOF_MAKERS)
    .filter(([, maker]) => path !== maker)
    .flatMap(([proof, maker]) =>
      findAll(code, new RegExp(`\\bas\\s+${proof}\\b`, 'g')).map((line) => ({
        rule: 'proof',
        file: path,
        line,
        message: `makes ${proof}, which only ${maker} may`,
      })),
    )
}

interface Owning {
  /** `core.clock`, `ClockState` or `InstrumentState.denials`; undefined if not visible. */
  piece: string | undefined
  line: number
}

const UNSEEN =
  'changes a piece that cannot be seen: write core.PIECE, or take it as a parameter with its type'

const MUTABLE_CALL = /(?<![\w.$])mutable\s*(?:<[^()]*>)?\(\s*(\w+)?(?:\.(\w+))?(?:\s*\)\.(\w+))?/g

/**
 * Calls of `mutable` in a file: of `core.clock`, `core` and its property, a parameter, or its parts.
 */
function listOwnings({ path, code }: SourceFile): Owning[] {
  if (path === MUTABLE) return []
  return [...code.matchAll(MUTABLE_CALL)].map((match) => {
    const [, name, held, property] = match
    const line = lineAt(code, match.index)
    if (name === undefined) return { piece: undefined, line }
    if (name === 'core' && (held ?? property) !== undefined)
      return { piece: `core.${held ?? property}`, line }
    if (new RegExp(`\\{[^{}]*\\b${name}\\b[^{}]*\\}: Core\\b`).test(code))
      return { piece: `core.${name}`, line }
    const type = new RegExp(`\\b${name}: ([A-Z]\\w*)`).exec(code)?.[1]
    return { piece: type && [type, held ?? []].flat().join('.'), line }
  })
}

function checkOwningFolder(file: SourceFile): Violation[] {
  if (STATE_OWNERS.some((folder) => covers(folder, file.path))) return []
  const message = `changes state, which only ${STATE_OWNERS.join(' and ')} may`
  return listOwnings(file).map(({ line }) => ({
    rule: 'state-owner',
    file: file.path,
    line,
    message,
  }))
}

const OWNED_PIECE = /(?<![\w.$])mutable\s*\(((?:[^()]|\([^()]*\))*)\)/g

/** The owner of one piece changes no other: it names the piece in the call. */
function checkOwnedPiece({ path, code }: SourceFile): Violation[] {
  const piece = PIECE_OWNERS.get(path)
  if (piece === undefined) return []
  return [...code.matchAll(OWNED_PIECE)]
    .filter(([, argument = '']) => /\w+$/.exec(argument.trim())?.[0] !== piece)
    .map((match) => ({
      rule: 'state-owner',
      file: path,
      line: lineAt(code, match.index),
      message: `changes ${match[1]}; of the state it owns ${piece}, and calls it so`,
    }))
}

function checkStateOwners(tree: SourceTree): Violation[] {
  const owners = new Map<string, string>()
  const violations: Violation[] = []
  for (const file of tree.values()) {
    if (!STATE_OWNERS.some((folder) => covers(folder, file.path))) continue
    const owner = covers(OWNED_TOGETHER, file.path) ? OWNED_TOGETHER : file.path
    for (const { piece, line } of listOwnings(file)) {
      if (piece === undefined) {
        if (covers(STATE_FOLDER, file.path))
          violations.push({ rule: 'state-owner', file: file.path, line, message: UNSEEN })
        continue
      }
      const first = owners.get(piece) ?? owner
      owners.set(piece, first)
      const message = `changes ${piece}, which ${first} changes`
      if (first !== owner) violations.push({ rule: 'state-owner', file: file.path, line, message })
    }
  }
  return violations
}
