import { didYouMeanEnd } from '../../lib/did-you-mean.ts'
import { type CallableName, callableNames } from '../../protocol/endpoints.ts'
import { CallRefused } from './call-refused.ts'

export type PendingOrder = (typeof PENDING)[number]

export interface CallArguments {
  readonly endpoint: CallableName | undefined
  readonly given: readonly (readonly [name: string, value: string])[]
  readonly config: string | undefined
  readonly set: readonly string[]
  readonly state: string | undefined
  readonly yes: string | undefined
  readonly pending: PendingOrder | undefined
  readonly json: boolean
  readonly dryRun: boolean
  readonly trustFiles: boolean
  readonly help: boolean
}

const PENDING = ['limit', 'market', 'trailing'] as const
const FLAGS: Readonly<Record<string, 'json' | 'dryRun' | 'trustFiles' | 'help'>> = {
  json: 'json',
  'dry-run': 'dryRun',
  'trust-files': 'trustFiles',
  help: 'help',
}
const VALUED = ['config', 'set', 'state', 'yes', 'pending'] as const
const SHORT: Readonly<Record<string, string>> = { '-c': '--config', '-h': '--help' }

/** No parameter of the table may have one of these names. */
export const CALL_OPTIONS: readonly string[] = [...Object.keys(FLAGS), ...VALUED]

/** @throws CallRefused */
export function readCallArguments(words: readonly string[]): CallArguments {
  const flags = { json: false, dryRun: false, trustFiles: false, help: false }
  const values: Record<(typeof VALUED)[number], string[]> = {
    config: [],
    set: [],
    state: [],
    yes: [],
    pending: [],
  }
  const given: [string, string][] = []
  const named: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = SHORT[words[at] ?? ''] ?? words[at] ?? ''
    if (!word.startsWith('--')) {
      named.push(word)
      continue
    }
    const [name, inline] = splitOption(word)
    const flag = FLAGS[name]
    if (flag !== undefined) {
      flags[flag] = true
      continue
    }
    const value = inline ?? words[++at]
    if (value === undefined || (inline === undefined && isOption(value))) throw valueMissing(name)
    const option = VALUED.find((each) => each === name)
    if (option === undefined) given.push([name, value])
    else values[option].push(value)
  }
  const { set } = values
  return {
    ...flags,
    endpoint: readEndpoint(named),
    given,
    set,
    config: onlyOne('config', values.config),
    state: onlyOne('state', values.state),
    yes: onlyOne('yes', values.yes),
    pending: readPending(onlyOne('pending', values.pending)),
  }
}

function isOption(word: string): boolean {
  return word.startsWith('--') || SHORT[word] !== undefined
}

function splitOption(word: string): [name: string, value: string | undefined] {
  const at = word.indexOf('=')
  return at < 0 ? [word.slice(2), undefined] : [word.slice(2, at), word.slice(at + 1)]
}

function onlyOne(name: string, values: readonly string[]): string | undefined {
  if (values.length <= 1) return values[0]
  throw new CallRefused({
    code: 'CALL_OPTION_REPEATED',
    sentence: `--${name} was given more than once`,
  })
}

function valueMissing(name: string): CallRefused {
  return new CallRefused({
    code: 'CALL_VALUE_MISSING',
    sentence: `--${name} needs a value`,
    hint: `write --${name}=value; an empty value is --${name}=`,
  })
}

/** Also takes `batch-place-order` for batchPlaceOrder. */
function readEndpoint([word, surplus]: readonly string[]): CallableName | undefined {
  if (word === undefined) return undefined
  if (surplus !== undefined) {
    throw new CallRefused({
      code: 'CALL_WORD_UNKNOWN',
      sentence: `"${surplus}" belongs to no option`,
      hint: 'parameters are written --name value',
    })
  }
  const wanted = toKey(word)
  const found = callableNames.find((name) => toKey(name) === wanted)
  if (found !== undefined) return found
  throw new CallRefused({
    code: 'CALL_ENDPOINT_UNKNOWN',
    sentence: `there is no endpoint "${word}"${didYouMeanEnd(word, callableNames)}`,
    hint: 'intentd call --help lists them all',
  })
}

function readPending(text: string | undefined): PendingOrder | undefined {
  if (text === undefined) return undefined
  const found = PENDING.find((each) => each === text)
  if (found !== undefined) return found
  throw new CallRefused({
    code: 'CALL_PENDING_UNKNOWN',
    sentence: `--pending takes ${PENDING.join(', ')}, not "${text}"`,
  })
}

export function toKey(name: string): string {
  return name.replaceAll('-', '').toLowerCase()
}
