import {
  describeEndpoint,
  type EndpointDescription,
  type FieldDescription,
} from '../../protocol/describe-endpoint.ts'
import { type CallableName, endpointNamed, callableNames } from '../../protocol/endpoints.ts'
import { topParameters } from './call-parameters.ts'
import { exampleOf } from './call-samples.ts'
import {
  familyOf,
  hasItems,
  titleOf,
  AUTH_WORDS,
  toLimitWords,
  toOption,
  RETRY_WORDS,
  toRuleWords,
  toShortName,
  toTypeWords,
} from './endpoint-words.ts'

const OPTIONS = `Options of every call
  -c, --config <file>      the configuration (default: config/paper.yaml: a simulator, no keys needed)
  --set <path=value>       override a setting of that file; may be given again
  --json                   print only the data of the answer, as JSON, just as it came
  --dry-run                print the request that would be sent, secrets masked, and send nothing
  --trust-files            send it although other users may replace files that are read
  --state <file>           the simulator keeps orders, positions and balances in this file between calls
  --pending <kind>         modifyPlanOrder: the pending order is limit, market or trailing; checks its rules
  --yes=<what>             needed by calls that move money out or create accounts; the refusal says what to write
  -h, --help               this text; after an endpoint's name, its parameters

Exit codes: 0 done, 1 refused by the exchange, 64 refused before sending, 69 not reachable, nothing sent,
75 unknown: it may have been done.`

export function formatEndpointList(): string {
  const rows = callableNames.map((name) => describeEndpoint(endpointNamed(name)))
  const families = [...new Set(rows.map(familyOf))]
  const width = Math.max(...rows.map(({ name }) => name.length))
  const lists = families.map((family) => {
    const own = rows.filter((row) => familyOf(row) === family)
    return [family, ...own.map((row) => `  ${row.name.padEnd(width)}  ${toSummary(row)}`)].join(
      '\n',
    )
  })
  return [
    'Usage: intentd call <endpoint> [--parameter value …]',
    'Calls one endpoint of the exchange and prints its answer.',
    ...lists,
    'intentd call <endpoint> --help lists its parameters.',
    OPTIONS,
    '',
  ].join('\n\n')
}

function toSummary(row: EndpointDescription): string {
  return `${titleOf(row)}${row.auth === 'public' ? ' (public)' : ''}`
}

export function formatEndpointHelp(name: CallableName): string {
  const row = describeEndpoint(endpointNamed(name))
  const { method, path, auth, limit, retry, pathParameters } = row
  const facts = [
    ['request', `${method} ${path}`],
    ...pathParameters.map((parameter) => [
      'path',
      `{${parameter}} is exchange.platformCoin of the configuration`,
    ]),
    ['auth', AUTH_WORDS[auth]],
    ['limit', toLimitWords(limit)],
    ['retry', RETRY_WORDS[retry]],
  ].map(([label = '', text = '']) => `  ${label.padEnd(8)} ${text}`)
  return [
    `${name}: ${titleOf(row)}`,
    facts.join('\n'),
    formatParameters(row),
    `Example\n  ${exampleOf(name)}`,
    OPTIONS,
    '',
  ].join('\n\n')
}

function formatParameters(row: EndpointDescription): string {
  const fields = topParameters(row)
  if (fields.length === 0) return 'Parameters\n  none'
  return ['Parameters', ...fields.flatMap((field) => formatParameter(field, row))].join('\n')
}

function formatParameter(field: FieldDescription, { parameters }: EndpointDescription): string[] {
  const short = toShortName(field.name)
  const head = [toOption(field.name), ...(short === undefined ? [] : [toOption(short)])].join(', ')
  const isList = hasItems(field, parameters)
  const items = parameters.filter(
    ({ name, aliasOf }) => name.startsWith(`${field.name}[].`) && !aliasOf,
  )
  return [
    `  ${head} <${toTypeWords(field, parameters)}>${field.isRequired ? ', required' : ''}`,
    ...formatMeaning(field, '      '),
    ...(isList ? ["      as JSON '[{…}]', or once an item: name=value,name=value"] : []),
    ...items.flatMap((item) => [
      `      ${item.name.slice(field.name.length + '[].'.length)}${item.isRequired ? ', required' : ''}`,
      ...formatMeaning(item, '          '),
    ]),
  ]
}

function formatMeaning(field: FieldDescription, indent: string): string[] {
  const rules = toRuleWords(field).join('; ')
  return [field.description, rules === '' ? undefined : rules].flatMap((text) =>
    text === undefined ? [] : [`${indent}${text}`],
  )
}
