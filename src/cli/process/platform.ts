import type { DaemonConfig } from '../../config/load-config.ts'
import { needsCredentials } from '../../config/secrets.ts'
import { Failure } from '../../lib/failure.ts'

/**
 * Allows only the simulator elsewhere, where file rights cannot be checked, and a stop request
 * kills at once.
 * @throws Failure PLATFORM_UNSUPPORTED
 */
export function assertSupported(
  config: Pick<DaemonConfig, 'environment' | 'exchange'>,
  platform: NodeJS.Platform = process.platform,
): void {
  if (platform !== 'win32' || !needsCredentials(config)) return
  throw new Failure({
    code: 'PLATFORM_UNSUPPORTED',
    sentence: 'on Windows intentd trades on paper only',
    facts: { environment: config.environment, platform },
    hint: 'run it on Linux, or in the Linux subsystem of Windows',
  })
}
