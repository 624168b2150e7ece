import type { Command, Option } from 'commander'
import { createProgram, VERBS } from '../../src/cli/main.ts'

/** The commands of each chapter of docs/commands.md, in the order of the page. */
const CHAPTERS: Readonly<Record<string, readonly string[]>> = {
  'Begin and run': ['init', 'run', 'check', 'doctor', 'accept', 'alert', 'plan', 'reload'],
  Look: [
    'status',
    'positions',
    'orders',
    'fills',
    'trades',
    'profit',
    'statement',
    'events',
    'explain',
    'whatif',
    'instruments',
    'universe',
    'dashboard',
    'chat',
    'mcp',
    'log-level',
  ],
  Act: [
    'pause',
    'resume',
    'mode',
    'flatten',
    'order',
    'close',
    'cancel',
    'kill',
    'release',
    'adopt',
    'deposit',
    'withdrawal',
    'signal',
    'confirm',
    'pair',
  ],
  'Strategies and past prices': [
    'new-strategy',
    'test',
    'backtest',
    'compare',
    'sweep',
    'check-bias',
    'parity',
    'replay',
    'download',
    'import',
    'data',
    'record',
  ],
  'Journal and several machines': ['archive', 'repair', 'journal', 'standby', 'handover', 'fleet'],
  'The exchange': ['simulate', 'call'],
}

const HEAD = `# Commands

Each command of \`intentd\` with its options. In a checkout \`node bin/intentd.mjs\` stands for \`intentd\`. A SCOPE is an instrument, \`strategy:ID\`, or \`'*'\` for the whole account. Exit codes: [start and stop](start-and-stop.md#exit-codes).

This page is written from the program by \`npm run docs\`.
`

/** docs/commands.md, from the help of the program. @throws Error where a command stands in no chapter */
export async function buildCommandDocs(): Promise<string> {
  const program = await createProgram(VERBS, () => undefined)
  const missing = program.commands
    .map((command) => command.name())
    .filter((name) => !Object.values(CHAPTERS).flat().includes(name))
  if (missing.length > 0)
    throw new Error(
      `name ${missing.join(', ')} in a chapter of CHAPTERS in test/docs/command-docs.ts, then run npm run docs`,
    )
  const chapters = Object.entries(CHAPTERS).map(([title, names]) => {
    const commands = names.map((name) => {
      const found = program.commands.find((command) => command.name() === name)
      if (!found) throw new Error(`there is no command ${name}: take it out of CHAPTERS`)
      return found
    })
    return [
      `## ${title}`,
      table(
        ['command', 'what it does'],
        commands.map((command) => [
          `[\`${command.name()}\`](#${anchorOf(command)})`,
          command.description(),
        ]),
      ),
      ...commands.map((command) => describeCommand(command)),
    ].join('\n\n')
  })
  return `${[HEAD.trimEnd(), ...chapters].join('\n\n')}\n`
}

function describeCommand(command: Command): string {
  const options = command.options.filter(({ hidden }) => !hidden)
  const parts = [
    `### ${pathOf(command)}`,
    `\`${pathOf(command)} ${command.usage()}\``,
    `${sentence(command.description())}`,
    ...command.aliases().map((name) => `Another name: \`intentd ${name}\`.`),
    ...(options.length === 0
      ? []
      : [
          table(
            ['option', 'what'],
            options.map((option) => [`\`${option.flags}\``, whatOf(option)]),
          ),
        ]),
    ...command.commands.map((own) => describeCommand(own).replace(/^### /, '#### ')),
  ]
  return parts.join('\n\n')
}

function whatOf({
  description,
  defaultValue,
  defaultValueDescription,
  argChoices,
}: Option): string {
  const value = defaultValueDescription ?? textOf(defaultValue)
  const isShown = !['', 'none', 'false'].includes(value)
  const choices = argChoices ? ` (${argChoices.join(', ')})` : ''
  return `${description}${choices}${isShown ? `; default ${value}` : ''}`
}

/** A single value as it is typed; empty for none, and for a list or a mapping. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : ''
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

function anchorOf(command: Command): string {
  return pathOf(command).replaceAll(' ', '-')
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?)]$/.test(first) ? first : `${first}.`
}

/** A table of Markdown; the bars of its cells are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ')).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}
