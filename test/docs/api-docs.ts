import {
  describeEndpoint,
  type EndpointDescription,
  type FieldDescription,
} from '../../src/protocol/describe-endpoint.ts'
import { type CallableName, endpointNamed, callableNames } from '../../src/protocol/endpoints.ts'
import { readCallArguments } from '../../src/cli/call/call-arguments.ts'
import { prepareCall, toPlanOrder } from '../../src/cli/call/answer-call.ts'
import { CallRefused } from '../../src/cli/call/call-refused.ts'
import { type BrokenSample, exampleOf, sampleOf, toWords } from '../../src/cli/call/call-samples.ts'
import {
  familyOf,
  titleOf,
  AUTH_WORDS,
  toLimitWords,
  RETRY_WORDS,
  toRuleWords,
  toTypeWords,
} from '../../src/cli/call/endpoint-words.ts'

/** A clock for the rules that have one: any instant will do, as the samples are years from it. */
const NOW = 1_760_000_000_000

const PREFACE = `# The exchange's API, as intentd speaks it

Generated from the endpoint table (\`src/protocol\`) by \`npm run docs\`; do not edit. The same table checks what
the client sends, types what it reads, and is served by the simulator.

- Values are texts, numbers too, unless a type says otherwise. Instants are Unix milliseconds.
- An answer is an envelope: \`code\` (\`00000\` is success), \`msg\`, \`requestTime\`, \`data\`. The tables below
  are of \`data\`, as it stands on the wire.
- *What we check*: a request that breaks one of these is refused here, with this message, and never sent.
- Every endpoint can be tried without keys, against the simulator: \`intentd call <endpoint> --help\`.
- *Beyond the document*, at the end, are endpoints of the exchange that its API document leaves out. A daemon reads
  the public ones only with \`exchange.beyondDocument: true\`, behind everything that trades, the signed one only with
  \`exchange.beyondDocumentPrivate: true\`, and needs none of them.`

export function buildApiDocs(): string {
  const rows = callableNames.map((name) => ({ name, row: describeEndpoint(endpointNamed(name)) }))
  const families = [...new Set(rows.map(({ row }) => familyOf(row)))]
  const sections = families.flatMap((family) => {
    const own = rows.filter(({ row }) => familyOf(row) === family)
    return [`## ${family}`, ...own.map(({ name, row }) => buildSection(name, row))]
  })
  const contents = rows.map(({ name, row }) => [
    `[${name}](#${name.toLowerCase()})`,
    titleOf(row),
    `${row.method} \`${row.path}\``,
  ])
  return `${[PREFACE, toTable(['Endpoint', 'Does', 'Request'], contents), ...sections].join('\n\n')}\n`
}

function buildSection(name: CallableName, row: EndpointDescription): string {
  const { method, path, auth, limit, retry } = row
  return [
    `### ${name}`,
    `${capitalised(titleOf(row))}: \`${method} ${path}\``,
    [
      `- Auth: ${AUTH_WORDS[auth]}`,
      `- Limit: ${toLimitWords(limit)}`,
      `- Retry: ${RETRY_WORDS[retry]}`,
    ].join('\n'),
    `\`\`\`\n${exampleOf(name)}\n\`\`\``,
    toFields('Request', row.parameters, ['Field', 'Type', 'Required', 'Meaning and rules']),
    toPlainAnswer(name, row),
    toFields('Answer', row.answer, ['Field', 'Type', 'Meaning and known values']),
    toList('What we check before sending', checksOf(name)),
    toList('Oddities', odditiesOf(name, row)),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function toFields(
  title: string,
  fields: readonly FieldDescription[],
  heads: readonly string[],
): string {
  if (fields.length === 0) return title === 'Request' ? 'Request: no parameters.' : ''
  const isRequest = heads.length === 4
  const cells = fields.map((field) => [
    `\`${field.name}\``,
    toTypeWords(field, fields),
    ...(isRequest ? [field.isRequired ? 'yes' : ''] : []),
    [field.description, ...toRuleWords(field)].filter((text) => text !== undefined).join('; '),
  ])
  return `${title}\n\n${toTable(heads, cells)}`
}

/** An answer that is one value. */
function toPlainAnswer(name: CallableName, { answer }: EndpointDescription): string {
  const { description } = endpointNamed(name).response
  return answer.length > 0 ? '' : `Answer: ${description ?? 'one value'}.`
}

/** The messages that broken samples really get. */
function checksOf(name: CallableName): readonly string[] {
  return [...new Set(sampleOf(name).broken.flatMap((sample) => messagesOf(name, sample)))]
}

function messagesOf(name: CallableName, { change, positionMode, pending }: BrokenSample): string[] {
  const { given } = readCallArguments(toWords(name, change))
  const context = {
    positionMode: positionMode ?? 'one_way_mode',
    now: NOW,
    ...toPlanOrder(pending),
  } as const
  try {
    prepareCall({ endpoint: name, given }, context)
    return []
  } catch (error) {
    if (!(error instanceof CallRefused)) throw error
    return Object.entries(error.facts).flatMap(([at, text]) =>
      String(text)
        .split('; ')
        .filter((part) => !part.startsWith('did you mean'))
        .slice(0, 1)
        .map((part) => toCheck(at, part.replace(/, not "[^"]*"$/, ''))),
    )
  }
}

/** `--order-list[0].price` is `orderList[].price` here; rules say themselves what they are about. */
function toCheck(at: string, message: string): string {
  if (!at.startsWith('--')) return message.replace(/^(\w+)\.\d+\./, '$1[].')
  const field = at
    .slice(2)
    .replaceAll(/\[\d+\]/g, '[]')
    .replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return `\`${field}\`: ${message}`
}

/** What a reader of the document would stumble over, out of the row. */
function odditiesOf(name: CallableName, row: EndpointDescription): readonly string[] {
  const { textField, parts } = endpointNamed(name)
  const aliases = (fields: readonly FieldDescription[], verb: string) =>
    fields.flatMap((field) =>
      field.aliasOf === undefined
        ? []
        : [`\`${field.name}\` is another spelling of \`${field.aliasOf}\`: ${verb}.`],
    )
  return [
    ...aliases(row.parameters, 'we send both'),
    ...aliases(row.answer, 'we read either'),
    ...(textField === undefined
      ? []
      : [`The envelope's text stands under \`${textField}\`, not \`msg\`.`]),
    ...(parts === undefined ? [] : ['Takes query parameters and a JSON body in one request.']),
    ...row.pathParameters.map(
      (parameter) =>
        `\`{${parameter}}\` in the path is \`exchange.platformCoin\` of the configuration.`,
    ),
    ...(row.limit.isAssumed ? ['The document shows neither its limit nor its payload.'] : []),
    ...[...row.parameters, ...row.answer]
      .filter(({ description = '' }) => description.includes('spelled so'))
      .map((field) => `\`${field.name}\` is spelled so.`),
  ]
}

function toList(title: string, items: readonly string[]): string {
  return items.length === 0 ? '' : [`${title}`, '', ...items.map((item) => `- ${item}`)].join('\n')
}

function toTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escapeCell).join(' | ')} |`
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|')
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
