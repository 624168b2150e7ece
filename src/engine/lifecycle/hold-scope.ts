import { listScopes, TRADING_MODES } from '../../domain/trading-mode.ts'
import { restrictionOf } from '../book/book.ts'
import type { EngineCommand } from '../event.ts'
import { announce, type Core } from '../state/core.ts'
import { restrict } from '../state/trading-mode.ts'
import { describeUnclosable, startFlatten } from './flatten.ts'

type HoldCommand = Extract<EngineCommand, { kind: 'restrict' | 'flatten' }>

/**
 * An unknown scope is refused: a mistyped name would restrict nothing. Only a release replaces a
 * stricter restriction.
 */
export function holdScope(core: Core, command: HoldCommand): void {
  const { scope, reason, by } = command
  const { instruments, strategies } = core.settings
  const scopes = listScopes(instruments.keys(), strategies.keys())
  if (!scopes.includes(scope)) {
    const stillHeld = describeUnclosable(core, scope)
    const isHeld = Object.keys(stillHeld).length > 0
    return announce(core, 'warn', 'trading.scopeUnknown', {
      scope,
      scopes,
      ...(isHeld && { stillHeld }),
    })
  }
  if (command.kind === 'flatten') return startFlatten(core, { scope, reason, by })
  const held = restrictionOf(core.book, scope, 'operator')
  if (held && TRADING_MODES.indexOf(held.mode) > TRADING_MODES.indexOf(command.mode)) {
    return announce(core, 'warn', 'trading.notLoosened', {
      scope,
      mode: held.mode,
      ordered: command.mode,
      by,
    })
  }
  restrict(core, { scope, mode: command.mode, code: 'operator', reason, by })
}
