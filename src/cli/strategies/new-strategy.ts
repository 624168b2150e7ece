import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { type Command } from 'commander'
import { Failure } from '../../lib/failure.ts'
import { strategyCode, strategySettings, strategyTest } from './strategy-templates.ts'

const NAME = /^[a-z][a-z0-9-]{0,31}$/
const PAPER = new URL('../../../config/paper.yaml', import.meta.url)

/** `intentd new-strategy`: a strategy that trades, its settings, its test, and a configuration to try it with. */
export function addNewStrategyCommand(program: Command): void {
  program
    .command('new-strategy <name>')
    .description('write a strategy, its settings, its test, and a configuration to run it on paper')
    .option('--dir <directory>', 'where to', '.')
    .action((name: string, { dir }: { readonly dir: string }) => {
      const files = writeStrategy(name, resolve(dir))
      process.stdout.write(nextSteps(name, files))
    })
}

interface WrittenFiles {
  readonly test: string
  readonly config: string
}

/** @throws Failure NEW_STRATEGY_NAME, NEW_STRATEGY_EXISTS */
function writeStrategy(name: string, directory: string): WrittenFiles {
  if (!NAME.test(name)) {
    throw new Failure({
      code: 'NEW_STRATEGY_NAME',
      sentence: 'a strategy has another kind of name',
      facts: { name },
      hint: 'small letters, digits and -, a letter first, at most 32: my-rsi',
    })
  }
  const place = (end: string): string => join(directory, `${name}${end}`)
  const files = new Map([
    [place('.ts'), strategyCode(name)],
    [place('.yaml'), strategySettings(name)],
    [place('.test.ts'), strategyTest(name)],
    [place('.paper.yaml'), paperConfig(name)],
  ])
  for (const file of files.keys()) {
    if (!existsSync(file)) continue
    throw new Failure({
      code: 'NEW_STRATEGY_EXISTS',
      sentence: 'there is such a file already',
      facts: { file },
      hint: 'choose another name, or another --dir',
    })
  }
  mkdirSync(directory, { recursive: true })
  for (const [file, text] of files) writeFileSync(file, text)
  return { test: place('.test.ts'), config: place('.paper.yaml') }
}

/** The shipped one, with this strategy alone. */
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

function nextSteps(name: string, { test, config }: WrittenFiles): string {
  const [testFile, configFile] = [test, config].map((file) => relative('.', file))
  return [
    `${name} is written: an RSI strategy that decides on closed candles. docs/strategies.md says what else there is.`,
    `  intentd test ${testFile}`,
    `  intentd check --config ${configFile}`,
    `  intentd backtest ${configFile} --market BTCUSDT-1m.csv.gz`,
    `  intentd run --config ${configFile}`,
    '',
  ].join('\n')
}
