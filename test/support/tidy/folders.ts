import {
  type SourceFile,
  type SourceTree,
  type TreeRule,
  type Violation,
  STRATEGY_CONTRACT,
  covers,
  findCycles,
  importedBy,
  targetOf,
} from './source-tree.ts'

/**
 * Order within a module, lowest first: a folder, or a file directly in the module, imports only
 * earlier ones. Names in one bracket share a place. Unnamed files of the module come last.
 */
const FOLDER_ORDER: Readonly<Record<string, readonly (string | readonly string[])[]>> = {
  engine: [
    ['event.ts', 'effect.ts', 'settings.ts'], // Types only.
    'book',
    'state',
    'strategies',
    'resolution',
    'orders',
    'lifecycle',
    'replay',
    'step.ts',
    'engine.ts',
  ],
  assembly: [
    'simulator',
    'instruments',
    'state',
    'settings',
    'recordings',
    'strategies',
    'account',
  ],
  daemon: [
    'reporting',
    'watchdog',
    'market-data',
    'embedded',
    'recording',
    'account',
    'explain',
    'control',
    'fleet',
  ],
  report: [
    'run-facts.ts',
    'round-numbers.ts',
    'collect',
    'metrics.ts',
    'run-report.ts',
    'text',
    'page',
  ],
  cli: [
    'process',
    'operator',
    'call',
    // Commands, which do not import each other (verbs.ts).
    [
      'accept',
      'chat',
      'check-bias',
      'control',
      'doctor',
      'explain',
      'fleet',
      'kill',
      'mcp',
      'prices',
      'reload',
      'replay',
      'run',
      'setup',
      'simulate',
      'strategies',
    ],
  ],
  simulator: [
    ['market', 'store'],
    ['matching', 'shared', 'wallet', 'watched-market.ts'],
    ['futures', 'gateway', 'services'],
    ['spot', 'margin', 'copy', 'subaccounts', 'prepare-market.ts'],
    ['convert', 'undocumented'],
    ['demo', 'wire'],
    'exchange.ts',
    'start-simulator.ts',
  ],
  exchange: ['limiter', 'clock', 'client', 'readers', 'exchange-client.ts'],
  alerts: ['alert.ts', 'rules', 'delivery'],
  config: ['yaml', 'schema'],
  journal: [
    'booking.ts',
    'curves.ts',
    'journal-writer.ts',
    'journal.ts',
    'tables',
    'durable-mark.ts',
    'journal-failures.ts',
    'journal-layout.ts',
    'packed-records.ts',
    'verified-prefix.ts',
    'journal-tables.ts',
    'journal-reader.ts',
    'verify-journal.ts',
    'postgres',
    'fleet',
    'sqlite-journal.ts',
    'copy',
    'migrate',
  ],
}

/**
 * Modules whose folders may import each other. Other modules without an order have no cycle among
 * folders.
 */
const FOLDERS_UNORDERED: Readonly<Record<string, string>> = {
  protocol: 'folders are the chapters of one table of endpoints',
}

/** Every other file of src/ must be reachable from here. */
const ROOT = 'src/cli/main.ts'
/** Files that run in threads. */
const ENTRIES = [
  ROOT,
  STRATEGY_CONTRACT,
  'src/backtest/playing/backtest-thread.ts',
  'src/cli/check-bias/check-thread.ts',
  'src/backtest/parity/parity-thread.ts',
  'src/strategy/testing/loading-thread.ts',
  'src/sweep-run/trial-thread.ts',
  'src/sweep-run/accepted-values-thread.ts',
  'src/cli/replay/replay-thread.ts',
  'src/daemon/explain/reading-thread.ts',
  'src/control/front/port-thread.ts',
  'src/control/signals/signal-thread.ts',
  'src/daemon/watchdog/watchdog-thread.ts',
  'src/strategy/isolation/strategy-thread.ts',
  'src/strategy/testing/purity-thread.ts',
  'src/assembly/strategies/examination-thread.ts',
  'src/config/write-schemas.ts',
  'src/strategy/install-contract.ts',
  'src/strategy/testing/testing.ts',
  'bin/',
  'strategies/',
]

export const FOLDER_RULES: readonly TreeRule[] = [
  (tree) => [...tree.values()].flatMap(checkFolderOrder),
  checkFolderCycles,
  checkCycles,
  checkDeadFiles,
]

interface InnerImport {
  from: string
  to: string
  file: string
  line: number
}

function listInnerImports({ path, module, imports }: SourceFile): InnerImport[] {
  if (module === undefined) return []
  const from = placeOf(path)
  return imports.flatMap((reference) => {
    const target = targetOf(path, reference)
    if (!target?.startsWith(`src/${module}/`) || placeOf(target) === from) return []
    return [{ from, to: placeOf(target), file: path, line: reference.line }]
  })
}

/** `src/engine/book/book.ts` is in `book`, `src/engine/engine.ts` in `engine.ts`. */
function placeOf(path: string): string {
  return path.split('/')[2] ?? ''
}

function isFile(place: string): boolean {
  return place.includes('.')
}

function checkFolderOrder(file: SourceFile): Violation[] {
  const order = FOLDER_ORDER[file.module ?? '']
  if (order === undefined) return []
  const rankOf = (place: string): number => {
    const rank = order.findIndex((names) =>
      typeof names === 'string' ? names === place : names.includes(place),
    )
    return rank < 0 && isFile(place) ? order.length : rank
  }
  const own = placeOf(file.path)
  if (rankOf(own) < 0) {
    const message = `${own} has no place in the order of ${file.module}'s folders`
    return [{ rule: 'folder-order', file: file.path, line: 1, message }]
  }
  return listInnerImports(file)
    .filter(({ from, to }) => rankOf(to) > rankOf(from))
    .map(({ from, to, line }) => ({
      rule: 'folder-order',
      file: file.path,
      line,
      message: `${from} imports ${to}, which is above it in ${file.module}`,
    }))
}

function checkFolderCycles(tree: SourceTree): Violation[] {
  const modules = new Set([...tree.values()].flatMap(({ module }) => module ?? []))
  return [...modules]
    .filter(
      (module) => FOLDER_ORDER[module] === undefined && FOLDERS_UNORDERED[module] === undefined,
    )
    .flatMap((module) =>
      findFolderCycles([...tree.values()].filter((file) => file.module === module)),
    )
}

/** Files directly in the module count as folder `.`, as far as a sub-folder imports them. */
function findFolderCycles(files: readonly SourceFile[]): Violation[] {
  const imports = files.flatMap(listInnerImports)
  const shared = new Set(imports.flatMap(({ from, to }) => (isFile(to) && !isFile(from) ? to : [])))
  const folderOf = (place: string): string => (isFile(place) ? '.' : place)
  const counted = imports
    .filter(({ from, to }) => [from, to].every((place) => !isFile(place) || shared.has(place)))
    .map((found) => ({ ...found, from: folderOf(found.from), to: folderOf(found.to) }))
    .filter(({ from, to }) => from !== to)
  const cycles = findCycles(new Set(counted.map(({ from }) => from)), (folder) =>
    counted.filter(({ from }) => from === folder).map(({ to }) => to),
  )
  const named = new Map(cycles.map((cycle) => [cycle.join(' > '), cycle]))
  return [...named].flatMap(([text, cycle]) => {
    const closing = counted.find(({ from, to }) => from === cycle.at(-2) && to === cycle.at(-1))
    const message = `folders import each other: ${text}`
    return closing
      ? [{ rule: 'folder-cycle' as const, file: closing.file, line: closing.line, message }]
      : []
  })
}

function checkCycles(tree: SourceTree): Violation[] {
  return findCycles(tree.keys(), (path) => importedBy(tree, path)).map((cycle) => ({
    rule: 'cycle',
    file: cycle.at(-1) ?? '',
    line: 1,
    message: `imports itself: ${cycle.join(' > ')}`,
  }))
}

/** Without the root no file can be called dead. */
function checkDeadFiles(tree: SourceTree): Violation[] {
  if (!tree.has(ROOT)) return []
  const reached = new Set(
    [...tree.keys()].filter((path) => ENTRIES.some((entry) => covers(entry, path))),
  )
  for (const path of reached) for (const target of importedBy(tree, path)) reached.add(target)
  return [...tree.keys()]
    .filter((path) => !reached.has(path))
    .map((file) => ({ rule: 'dead-file', file, line: 1, message: 'no entry point leads here' }))
}
