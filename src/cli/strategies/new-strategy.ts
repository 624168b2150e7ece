import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { Failure } from '../../lib/failure.ts'
import { strategyCode, strategySettings, strategyTest } from './strategy-templates.ts'
import { programWords } from '../process/program-words.ts'
import { makeDirectory } from '../../lib/durable-file.ts'
import { writeOut } from '../../lib/write-out.ts'

const NAME = /^[a-z][a-z0-9-]{0,31}$/
const INSTALLATION = new URL('../../../', import.meta.url)
const PAPER = new URL('config/paper.yaml', INSTALLATION)

const LIBRARY: Readonly<Record<string, string>> = {
  grid: 'grid-btc',
  trend: 'trend-btc',
  ...Object.fromEntries(
    [
      'breakout',
      'dca',
      'dip',
      'follow',
      'funding',
      'market-maker',
      'pair',
      'ratio',
      'rebalance',
      'twap',
    ].map((name) => [name, `examples/${name}`]),
  ),
}

export function addNewStrategyCommand(program: Command): void {
  program
    .command('new-strategy <name>')
    .description('write a strategy, its settings, its test, and a configuration to run it on paper')
    .option(
      '--dir <directory>',
      'where to write it (default: strategies/ in a folder of `init`, else this one)',
    )
    .addOption(
      new Option('--like <strategy>', 'begin with a copy of one that comes with intentd').choices(
        Object.keys(LIBRARY),
      ),
    )
    .action((name: string, { dir, like }: NewOptions) => {
      const directory = resolve(dir ?? (isWorkingDirectory() ? 'strategies' : '.'))
      const place = (end: string): string => join(directory, `${name}${end}`)
      const texts = like === undefined ? freshFiles(name) : copiedFiles(name, like)
      writeStrategy(name, directory, texts)
      const hasSignal = takesSignal(texts.get('.yaml') ?? '')
      writeOut(nextSteps(name, place, { like, hasSignal }))
    })
}

function isWorkingDirectory(): boolean {
  return ['strategies', 'config/strategies', 'intentd.service'].every((path) => existsSync(path))
}

interface NewOptions {
  readonly dir?: string
  readonly like?: string
}

type Texts = ReadonlyMap<string, string>

function freshFiles(name: string): Texts {
  return new Map([
    ['.ts', strategyCode(name)],
    ['.yaml', strategySettings(name)],
    ['.test.ts', strategyTest(name)],
    ['.paper.yaml', paperConfig(name)],
  ])
}

function copiedFiles(name: string, like: string): Texts {
  const read = (path: string): string => readFileSync(new URL(path, INSTALLATION), 'utf8')
  const settings = read(`config/strategies/${LIBRARY[like]}.yaml`)
    .replace(/^# yaml-language-server.*\n#?\n/, '')
    .replace(/^id: .*$/m, `id: ${name}`)
    .replace(/^module: .*$/m, `module: ./${name}.ts`)
  return new Map([
    ['.ts', read(`strategies/${like}.ts`)],
    ['.yaml', settings],
    ['.paper.yaml', configFor(name, settings)],
  ])
}

function configFor(name: string, settings: string): string {
  const config = paperConfig(name)
  if (settings.includes('foreignFills: adopt')) return withAdoption(config)
  return takesSignal(settings) ? withSignal(config) : config
}

function takesSignal(settings: string): boolean {
  return /^signals:/m.test(settings)
}

/** Fills of exits that the exchange keeps would else halt the instrument. */
function withAdoption(config: string): string {
  return config.replace(
    /^risk:\n/m,
    'risk:\n  foreignFills: adopt # the exchange fires take-profits and stop-losses: no orders of ours. A fill by hand halts nothing either\n',
  )
}

const SIGNAL = `
# The alert of a chart, or whatever sends the signal: docs/signals.md. Its secret is in .env.
signals:
  port: 8791
  accept:
    tv:
      secretVariable: INTENTD_SIGNAL_TV
      secretField: key # for senders that cannot set a header
      maxAgeMs: 14400000 # after four hours without another one the strategy is flat
      fields:
        action: { type: oneOf, values: [long, short, flat] }
`

function withSignal(config: string): string {
  return config.replace(/^strategies:/m, `${SIGNAL.trimStart()}\n$&`)
}

function writeStrategy(name: string, directory: string, texts: Texts): void {
  if (!NAME.test(name)) {
    throw new Failure({
      code: 'NEW_STRATEGY_NAME',
      sentence: 'this cannot be the name of a strategy',
      facts: { name },
      hint: 'small letters, digits and -, a letter first, at most 32: my-rsi',
    })
  }
  const files = new Map(
    [...texts].map(([end, text]) => [join(directory, `${name}${end}`), text] as const),
  )
  for (const file of files.keys()) {
    // A link that leads nowhere is there too.
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) continue
    throw new Failure({
      code: 'NEW_STRATEGY_EXISTS',
      sentence: 'the file exists already',
      facts: { file },
      hint: 'choose another name, or another --dir',
    })
  }
  makeDirectory(directory)
  for (const [file, text] of files) writeFileSync(file, text, { flag: 'wx' })
}

function paperConfig(name: string): string {
  const shipped = readFileSync(PAPER, 'utf8')
  return shipped
    .slice(0, shipped.indexOf('\nstrategies:'))
    .replace(/^# yaml-language-server.*\n#\n/, '')
    .replace(/^name: .*$/m, `name: ${name}`)
    .replace(/^( {2}directory: ).*$/m, `$1.intentd/${name}`)
    .replace(
      /^(?<key> {2}speed: ).*$/m,
      '$<key>1 # real time; 60 is an hour in a minute, for a demonstration',
    )
    .concat(`\nstrategies:\n  - ${name}.yaml\n`)
}

const MAKE_SECRET =
  '  echo "INTENTD_SIGNAL_TV=$(openssl rand -hex 24)" >> .env; chmod 600 .env   # what the sender of the signal has to know'

function nextSteps(
  name: string,
  place: (end: string) => string,
  { like, hasSignal }: { readonly like: string | undefined; readonly hasSignal: boolean },
): string {
  const program = programWords(process.cwd())
  const [testFile, configFile] = ['.test.ts', '.paper.yaml'].map((end) => relative('.', place(end)))
  return [
    ...(like === undefined
      ? [
          `${name} is written: an RSI strategy that decides on closed candles. docs/strategies.md says what else there is.`,
          `  ${program} test ${testFile}`,
        ]
      : [
          `${name} is written: ${like} as it comes with intentd. docs/strategies-library.md says when it loses.`,
        ]),
    ...(hasSignal ? [MAKE_SECRET] : []),
    `  ${program} check --config ${configFile}`,
    `  ${program} backtest ${configFile} --market BTCUSDT-1m.csv.gz${hasSignal ? ' --feed tv=signal-tv.feed.jsonl' : ''}`,
    `    (price files: ${program} download BTCUSDT --from DATE --out data)`,
    `  ${program} run --config ${configFile}`,
    ...(hasSignal ? [`  ${program} signal tv '{"action":"long"}' -c ${configFile}`] : []),
    '',
  ].join('\n')
}
