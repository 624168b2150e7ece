import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { table, textOf } from './command-docs.ts'

/** The part of a JSON schema that the page shows. */
interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly title?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

const FOLDER = join(import.meta.dirname, '../../config/schema')

const FILES = [
  ['intentd', 'The main file', 'What `-c FILE` names; `config/paper.yaml` unless told.'],
  ['strategy', 'A strategy file', 'One of those that `strategies:` of the main file lists.'],
  ['simulator', 'The file of `intentd simulate`', '`config/simulator.yaml` unless told.'],
] as const

const HEAD = `# Configuration

Every key of the YAML files. \`intentd check\` names each line that is wrong, with what to do; an unknown key is wrong. A key that must be set is marked with *required*. \`--set KEY=VALUE\` sets one key for one run. Keys and passwords are no settings: they are variables of the environment or of \`.env\` ([operations](operations.md)). An editor that reads JSON schemas completes and checks the files (\`config/schema/\`).

This page is written from the schemas by \`npm run docs\`.
`

/** docs/configuration.md, from the schemas in config/schema. */
export function buildConfigDocs(): string {
  const chapters = FILES.map(([name, title, where]) => {
    const schema = JSON.parse(readFileSync(join(FOLDER, `${name}.schema.json`), 'utf8')) as Schema
    return [`## ${title}`, where, ...describeFile(schema)].join('\n\n')
  })
  return `${[HEAD.trimEnd(), ...chapters].join('\n\n')}\n`
}

/** The keys without keys of their own in one table, then a section for each of the others. */
function describeFile(schema: Schema): readonly string[] {
  const keys = Object.entries(schema.properties ?? {})
  const single = keys.filter(([, own]) => membersOf(own).length === 0)
  const sections = keys.filter(([, own]) => membersOf(own).length > 0)
  return [
    keyTable(single.map(([name, own]) => [name, own, isRequired(schema, name)])),
    ...sections.map(([name, own]) =>
      [
        `### ${name}`,
        `${own.description ?? ''}${isRequired(schema, name) ? ' *Required.*' : ''}`,
        keyTable(flatten(own, '')),
      ].join('\n\n'),
    ),
  ]
}

type KeyRow = readonly [path: string, schema: Schema, isRequired: boolean]

/** All keys below a schema, with the path from there: `losses.daily`, `SYMBOL.tickSize`, `targets[].name`. */
function flatten(schema: Schema, before: string): readonly KeyRow[] {
  return membersOf(schema).flatMap(([name, own, required]) => {
    const path = name.startsWith('[') || before === '' ? `${before}${name}` : `${before}.${name}`
    const isNamed = own.description !== undefined || membersOf(own).length === 0
    return [...(isNamed ? [[path, own, required] as const] : []), ...flatten(own, path)]
  })
}

function membersOf(schema: Schema): readonly KeyRow[] {
  const { properties = {}, additionalProperties, items, anyOf = [] } = schema
  const isMap =
    typeof additionalProperties === 'object' && membersOf(additionalProperties).length > 0
  return [
    ...Object.entries(properties).map(
      ([name, own]) => [name, own, isRequired(schema, name)] as const,
    ),
    ...(isMap ? [['NAME', additionalProperties, false] as const] : []),
    ...(items && membersOf(items).length > 0 ? [['[]', items, false] as const] : []),
    ...anyOf.flatMap((one) => membersOf(one)),
  ]
}

function isRequired({ required = [], properties = {} }: Schema, name: string): boolean {
  return required.includes(name) && properties[name]?.default === undefined
}

function keyTable(rows: readonly KeyRow[]): string {
  return table(
    ['key', 'value', 'default', 'what'],
    rows.map(([path, schema, required]) => [
      `\`${path}\``,
      valueOf(schema),
      required ? '*required*' : defaultOf(schema),
      schema.description ?? '',
    ]),
  )
}

function valueOf(schema: Schema): string {
  const { enum: choices, const: only, title, type, anyOf } = schema
  if (choices) return choices.map((choice) => `\`${textOf(choice)}\``).join(', ')
  if (only !== undefined) return `\`${textOf(only)}\``
  if (title !== undefined) return title.replace(/ \(.*\)$/, '')
  if (anyOf) return [...new Set(anyOf.map((one) => valueOf(one)))].join(', or ')
  if (type === 'boolean') return '`true`, `false`'
  if (type === 'integer' || type === 'number') return rangeOf(schema, type)
  if (type === 'array') return schema.items ? `list of: ${valueOf(schema.items)}` : 'list'
  return type === 'object' ? 'mapping' : 'text'
}

function rangeOf({ minimum, exclusiveMinimum, maximum }: Schema, type: string): string {
  const least = exclusiveMinimum === undefined ? minimum : `above ${exclusiveMinimum}`
  const kind = type === 'integer' ? 'whole number' : 'number'
  return least === undefined || maximum === undefined
    ? kind
    : `${kind}, ${least} ${exclusiveMinimum === undefined ? 'to' : 'and at most'} ${maximum}`
}

function defaultOf({ default: value }: Schema): string {
  const text = textOf(value)
  return text === '' ? '' : `\`${text}\``
}
