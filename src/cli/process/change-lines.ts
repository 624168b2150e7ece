import type { ConfigChanges, ConfigChange } from '../../config/config-changes.ts'

export function describeChange({ path, was, is }: ConfigChange): string {
  if (path.startsWith('code.') && was !== undefined && is !== undefined)
    return `${path.slice('code.'.length)}: other code`
  if (was === undefined) return `${path} is set: ${is}`
  return is === undefined ? `${path} is not set any more (was ${was})` : `${path}: ${was} -> ${is}`
}

export function listChanges(
  { started, stopped, settings }: Pick<ConfigChanges, 'started' | 'stopped' | 'settings'>,
  note: (change: ConfigChange) => string = () => '',
): readonly string[] {
  return [
    ...started.map((id) => `+ ${id} is started`),
    ...stopped.map((id) => `- ${id} is stopped`),
    ...settings
      .filter(({ path, was, is }) => !path.startsWith('code.') || (was && is))
      .map((change) => {
        const limit = change.limit ? ` (${change.limit})` : ''
        return `~ ${describeChange(change)}${note(change)}${limit}`
      }),
  ]
}
