import type { ReadableFile } from './cross-checks.ts'
import { isLoopback } from './loopback.ts'
import type { DaemonFile } from './schema/daemon-schema.ts'
import type { Problem } from './yaml/problem.ts'
import type { YamlSource } from './yaml/yaml-source.ts'

type AlertsSection = NonNullable<ReadableFile<DaemonFile>['settings']['alerts']>
type TargetSection = NonNullable<NonNullable<AlertsSection['targets']>[number]>

const OWN_SETTINGS: Readonly<
  Record<NonNullable<TargetSection['kind']>, readonly (keyof TargetSection)[]>
> = {
  json: ['tokenVariable'],
  ntfy: ['tokenVariable'],
  slack: [],
  discord: [],
  telegram: ['chat', 'apiUrl'],
}

export function checkAlerts({ source, settings: { alerts } }: ReadableFile<DaemonFile>): Problem[] {
  if (alerts === undefined) return []
  const targets = alerts.targets ?? []
  const isEmpty = targets.length === 0 && !source.has(['alerts', 'heartbeat'])
  const problems = targets.flatMap((target, index) =>
    target ? checkTarget(source, target, index) : [],
  )
  const names = targets.map((target) => target?.name)
  for (const [index, name] of names.entries()) {
    if (name === undefined || names.indexOf(name) === index) continue
    problems.push(
      source.problem(['alerts', 'targets', index, 'name'], `another target is called ${name}`),
    )
  }
  if (isEmpty) {
    const message =
      'nothing would be sent anywhere: list targets or a heartbeat, or remove this section'
    problems.push(source.problemOfKey(['alerts'], message))
  }
  if (alerts.quiet?.from !== undefined && alerts.quiet.from === alerts.quiet.to) {
    problems.push(
      source.problem(['alerts', 'quiet', 'to'], 'quiet hours end when they begin: remove them'),
    )
  }
  return problems
}

function checkTarget(source: YamlSource, target: TargetSection, index: number): Problem[] {
  const { kind, chat, apiUrl } = target
  if (kind === undefined) return []
  const path = ['alerts', 'targets', index]
  const problems = (['tokenVariable', 'chat', 'apiUrl'] as const)
    .filter((key) => target[key] !== undefined && !OWN_SETTINGS[kind].includes(key))
    .map((key) => source.problemOfKey([...path, key], `${kind} has no use for it: remove it`))
  if (kind === 'telegram' && chat === undefined && !source.has([...path, 'chat'])) {
    problems.push(source.problem([...path, 'kind'], 'telegram needs the id of a chat: set chat'))
  }
  const url = apiUrl === undefined ? null : URL.parse(apiUrl)
  if (url && url.protocol !== 'https:' && !isLoopback(url.hostname)) {
    problems.push(
      source.problem([...path, 'apiUrl'], 'expected an https address (http only on this machine)'),
    )
  }
  return problems
}
