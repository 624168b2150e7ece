import { parseSource } from '../source-text.ts'
import { type Violation, covers } from './source-tree.ts'

interface OldWord {
  /** Matches one word in small letters; `fencedAt`, `FENCED_AT` and `fenced-at` are two each. */
  word: RegExp
  instead: string
  /** Where the word is wrong; default: everywhere. */
  files?: readonly string[]
  /** For a word that is ordinary in prose. Default: code, comments and strings. */
  only?: 'identifiers' | 'identifiers and strings'
}

const SOURCES = ['src/', 'strategies/']
const CORE = ['src/domain/', 'src/execution/', 'src/risk/', 'src/strategy/', 'src/engine/']
const RUNNING = [
  'src/engine/',
  'src/daemon/',
  'src/interpreter/',
  'src/recording/',
  'src/cli/replay/',
]

const OLD_WORDS: readonly OldWord[] = [
  { word: /^lanes?$/, instead: 'instrument, InstrumentState' },
  { word: /^(?:fence[ds]?|fencing)$/, instead: 'resolution, cancel' },
  { word: /^horizons?$/, instead: 'acceptance deadline, acceptanceWindowMs' },
  { word: /^survivors?$/, instead: 'displaced orders' },
  { word: /^narrat(?:ors?|es?|ed|ing)$/, instead: 'event log, log' },
  { word: /^mailbox(?:es)?$/, instead: 'command inbox' },
  {
    word: /^letters?$/,
    instead: 'control command',
    files: ['src/daemon/', 'src/cli/control/scope-commands.ts'],
  },
  { word: /^doors?$/, instead: 'entry point, order sender' },
  { word: /^desks?$/, instead: 'risk checks, account service' },
  { word: /^houses?$/, instead: 'source tree, exchange' },
  { word: /^holders?$/, instead: 'allocation', files: CORE },
  { word: /^(?:tally|tallies|tallied)$/, instead: 'run statistics', files: ['src/'] },
  { word: /^purses?$/, instead: 'balance' },
  { word: /^pots?$/, instead: 'counterparties' },
  { word: /^knobs?$/, instead: 'settings' },
  { word: /^tend(?:s|ed|ing)?$/, instead: 'schedule', only: 'identifiers' },
  { word: /^life$/, instead: 'run', files: RUNNING },
  { word: /^lives$/, instead: 'runs', files: RUNNING, only: 'identifiers' },
  { word: /^(?:told|untold|tells?)$/, instead: 'logged, printed, described', only: 'identifiers' },
  { word: /^sure$/, instead: 'synchronised', only: 'identifiers' },
  { word: /^rooms$/, instead: 'modules' },
  {
    word: /^doubt(?:s|ed|ful)?$/,
    instead: 'unsynchronised',
    only: 'identifiers and strings',
    files: SOURCES,
  },
  { word: /^stakes?$/, instead: 'cancel cost' },
  // Only parameters are swept (docs/sweep.md).
  { word: /^(?:swept|sweeping)$/, instead: 'cancelled along' },
]

/** Not read for now. An entry goes when its files have the new words. */
const NOT_YET: readonly { files: RegExp; why: string }[] = []

/** Words that stay in some files, and why. */
const EXCEPTIONS: readonly { words: readonly string[]; files: readonly string[]; why: string }[] = [
  {
    words: ['house'],
    files: [
      'src/config/schema/simulator-schema.ts',
      'src/simulator/wallet/platform-coin.ts',
      'docs/configuration.md',
      'config/simulator.yaml',
      'test/config/simulator.test.ts',
      'test/exchange/both-schemes.test.ts',
      'test/simulator/',
    ],
    why: "HOUSE is a coin: the name of the simulator's own",
  },
]

/** Old words in sources, settings and documents (path from the root of the repository, to content). */
export function checkWords(texts: ReadonlyMap<string, string>): Violation[] {
  return [...texts].flatMap(([file, text]) => (isRead(file) ? findOldWords(file, text) : []))
}

const FRAGMENT = /^\s*(?:\/\*\*?|\/\/|\*) (Of|By|Who|What) /

/** A comment is a sentence with a subject and a verb: one that begins so is a fragment. */
export function checkCommentOpenings(texts: ReadonlyMap<string, string>): Violation[] {
  return [...texts].flatMap(([file, text]) => {
    const [root] = file.split('/')
    if (root !== 'strategies' && root !== 'src') return []
    return text.split('\n').flatMap((content, place) => {
      const opening = FRAGMENT.exec(content)?.[1]
      if (opening === undefined) return []
      const message = `a comment begins with '${opening}': say it in a sentence`
      return [{ rule: 'comment-opening' as const, file, line: place + 1, message }]
    })
  })
}

function isRead(file: string): boolean {
  return !NOT_YET.some(({ files }) => files.test(file))
}

function findOldWords(file: string, text: string): Violation[] {
  const entries = OLD_WORDS.filter(
    ({ files }) => files?.some((entry) => covers(entry, file)) ?? true,
  )
  return splitText(file, text).flatMap(({ kind, words }) => {
    const forbidden = entries.filter(({ only }) => forbidsIn(kind, only))
    return words.flatMap(({ word, line }) => {
      const entry = forbidden.find((candidate) => candidate.word.test(word))
      if (entry === undefined || isException(file, word)) return []
      const message = `says '${word}'; the field says ${entry.instead}`
      return [{ rule: 'old-word' as const, file, line, message }]
    })
  })
}

function forbidsIn(kind: Part['kind'], only: OldWord['only']): boolean {
  return (
    only === undefined || kind === 'identifiers' || (kind === 'strings' && only !== 'identifiers')
  )
}

function isException(file: string, word: string): boolean {
  return EXCEPTIONS.some(
    ({ words, files }) => words.includes(word) && files.some((entry) => covers(entry, file)),
  )
}

interface Part {
  kind: 'identifiers' | 'strings' | 'prose'
  words: readonly { word: string; line: number }[]
}

function splitText(file: string, text: string): Part[] {
  const path: Part = { kind: 'identifiers', words: listWords(file) }
  if (!/\.(?:ts|mjs)$/.test(file)) return [path, { kind: 'prose', words: listWords(text) }]
  const { code, comments } = parseSource(text)
  const isElsewhere = (at: number): boolean => code[at] === text[at] || comments[at] === text[at]
  const strings = text.split('').map((char, at) => (char !== '\n' && isElsewhere(at) ? ' ' : char))
  return [
    path,
    { kind: 'identifiers', words: listWords(code) },
    { kind: 'strings', words: listWords(strings.join('')) },
    { kind: 'prose', words: listWords(comments) },
  ]
}

function listWords(text: string): Part['words'] {
  return text.split('\n').flatMap((content, index) =>
    [...content.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g)].map(([word]) => ({
      word: word.toLowerCase(),
      line: index + 1,
    })),
  )
}
