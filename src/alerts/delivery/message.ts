import type { AlertTarget } from '../../config/alert-secrets.ts'
import type { HiddenTexts } from '../../lib/secret.ts'
import { unreachable } from '../../lib/unreachable.ts'
import type { Alert } from '../alert.ts'
import { cutText, showFact } from '../rules/facts.ts'
import type { WebhookCall } from './webhook-client.ts'

export interface MessagePlace {
  readonly name: string
  readonly environment: string
  /** Names an account in a command: ` -c FILE`. */
  readonly optionsOf: (account: string | undefined) => string
}

export interface MessageContext {
  readonly place: MessagePlace
  readonly hidden: HiddenTexts
  readonly dropped: number
}

/** Discord takes 2000 characters, Telegram 4096. */
const TEXT_MAX = 1800

const PRIORITIES = { info: '2', warning: '3', urgent: '5' } as const

export function writeCall(target: AlertTarget, alert: Alert, context: MessageContext): WebhookCall {
  const { place, hidden, dropped } = context
  const clean = (text: string) => hidden.remove(text)
  const title = clean(writeTitle(alert, place))
  const body = clean(writeBody(alert, place, dropped))
  const text = cutText(`${title}\n${body}`, TEXT_MAX)
  const send = (content: string, headers: Readonly<Record<string, string>>): WebhookCall => ({
    url: target.url.reveal(),
    method: 'POST',
    headers: { ...headers, ...authorize(target) },
    body: content,
  })
  const post = (content: object) =>
    send(JSON.stringify(content), { 'content-type': 'application/json' })
  switch (target.kind) {
    case 'json':
      return post(toObject({ alert, title, text: body, place, clean }))
    case 'slack':
      return post({ text: escapeSlack(text) })
    case 'discord':
      return post({ content: text, allowed_mentions: { parse: [] } })
    case 'telegram':
      return post({ chat_id: target.chat, text, link_preview_options: { is_disabled: true } })
    case 'ntfy':
      return send(body, ntfyHeaders(title, alert))
    default:
      return unreachable(target.kind)
  }
}

function writeTitle(
  { urgency, title, repeats, account }: Alert,
  { name, environment }: MessagePlace,
): string {
  const mark = urgency === 'urgent' ? 'URGENT ' : ''
  const again = repeats > 0 ? ` (${repeats} more)` : ''
  return showFact(`${mark}${account ?? name} (${environment}): ${title}${again}`)
}

function writeBody(
  { lines, command, account, at }: Alert,
  { optionsOf }: MessagePlace,
  dropped: number,
): string {
  const lost = dropped > 0 ? [`${dropped} messages before this one were dropped`] : []
  const isRelease = command?.startsWith('release') === true
  const typed = `intentd ${command}${optionsOf(account)}`
  const next = command === undefined || isRelease ? [] : [`next: ${typed}`]
  const last = isRelease ? [`when that is understood and mended: ${typed}`] : []
  const facts = cutText(lines.join('\n'), TEXT_MAX / 2)
  return [...next, facts, ...last, `at: ${new Date(at).toISOString()}`, ...lost]
    .filter((line) => line !== '')
    .join('\n')
}

interface ObjectParts {
  readonly alert: Alert
  readonly title: string
  readonly text: string
  readonly place: MessagePlace
  readonly clean: (text: string) => string
}

function toObject({ alert, title, text, place, clean }: ObjectParts): object {
  const { event, urgency, at, repeats, command, account, lines } = alert
  return {
    name: account ?? place.name,
    environment: place.environment,
    event,
    urgency,
    title,
    text,
    lines: lines.map(clean),
    command: command === undefined ? null : clean(`intentd ${command}${place.optionsOf(account)}`),
    at: new Date(at).toISOString(),
    repeats,
  }
}

function authorize({ token }: AlertTarget): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` }
}

/** `<!channel>` in a foreign text would notify every member. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** A topic's own address takes plain text and ASCII headers. */
function ntfyHeaders(title: string, { urgency }: Alert): Readonly<Record<string, string>> {
  return {
    'content-type': 'text/plain; charset=utf-8',
    title: title.replaceAll(/[^\x20-\x7e]/g, '?'),
    priority: PRIORITIES[urgency],
  }
}
