import type { DaemonConfig } from '../../config/load-config.ts'
import type { RequestOf, CallableName } from '../../protocol/endpoints.ts'
import { type GuardedEndpoint, isGuarded } from '../../exchange/client/request-writer.ts'
import { CallRefused } from './call-refused.ts'

export interface GuardedCall {
  readonly endpoint: CallableName
  readonly request: Readonly<Record<string, unknown>>
  readonly config: Pick<DaemonConfig, 'environment' | 'withdrawal'>
}

export interface Guard {
  readonly endpoint: GuardedEndpoint
  /** `this would send 12.5 USDT to 0xab… over erc20, and cannot be undone`. */
  readonly sentence: string
  /** The value that `--yes` must have: `12.5USDT`. */
  readonly consent: string
  readonly notice: string | undefined
}

/**
 * Undefined for endpoints that neither move money out nor create accounts. @throws CallRefused for
 * an address not in `withdrawal.addresses`
 */
export function guardCall({ endpoint, request, config }: GuardedCall): Guard | undefined {
  if (!isGuarded(endpoint)) return undefined
  if (endpoint === 'createVirtualSubaccounts') {
    const { subAccountList } = request as RequestOf<'createVirtualSubaccounts'>
    const many =
      subAccountList.length === 1 ? 'a sub-account' : `${subAccountList.length} sub-accounts`
    const sentence = `this would create ${many}, which cannot be undone: ${subAccountList.join(', ')}`
    return { endpoint, sentence, consent: `${subAccountList.length}accounts`, notice: undefined }
  }
  const withdrawal = request as RequestOf<'spotWithdrawal'>
  const { coin, size, chain, tag } = withdrawal
  const onChain = chain === undefined ? '' : ` on chain ${chain}`
  const withTag = tag === undefined ? '' : ` with tag ${tag}`
  return {
    endpoint,
    sentence: `this would send ${size} ${coin} to ${recipientOf(withdrawal)}${withTag}${onChain}, which cannot be undone`,
    consent: `${size}${coin}`,
    notice: checkAddress(withdrawal, config),
  }
}

/** The same digits can be a UID, or a mobile number in each country. */
function recipientOf(withdrawal: RequestOf<'spotWithdrawal'>): string {
  const { transferType, address, innerToType = 'uid', areaCode = '' } = withdrawal
  if (transferType === 'on_chain') return address
  return innerToType === 'mobile' ? `mobile:${areaCode}:${address}` : `${innerToType}:${address}`
}

/** The amount must match exactly. @throws CallRefused */
export function assertConsent({ sentence, consent }: Guard, yes: string | undefined): void {
  if (yes !== undefined && yes.replaceAll(/\s/g, '').toLowerCase() === consent.toLowerCase()) return
  if (yes === undefined) {
    throw new CallRefused({
      code: 'CALL_CONSENT_MISSING',
      sentence,
      hint: `if that is what you mean, add --yes=${consent}`,
    })
  }
  throw new CallRefused({
    code: 'CALL_CONSENT_OTHER',
    sentence,
    facts: { 'you said': `--yes=${yes}` },
    hint: `--yes names something else; if you mean the above, write --yes=${consent}`,
  })
}

/**
 * Whoever sends must not be able to change the list of addresses on the command line.
 * @throws CallRefused
 */
export function assertSettingsOfFile(endpoint: CallableName, set: readonly string[]): void {
  if (!isGuarded(endpoint) || set.length === 0) return
  throw new CallRefused({
    code: 'CALL_SETTINGS_FROM_FILE',
    sentence: `${endpoint} goes by the configuration file alone, and takes no --set`,
    hint: 'write it into the file, and read it once more there',
  })
}

/**
 * Keys of another account would move its money. @throws CallRefused @param overriddenKeys variables
 * of keys that differ from `.env`
 */
export function assertKeysOfFile(endpoint: CallableName, overriddenKeys: readonly string[]): void {
  if (!isGuarded(endpoint) || overriddenKeys.length === 0) return
  throw new CallRefused({
    code: 'CALL_KEYS_OVERRIDDEN',
    sentence: `${endpoint} is not sent with keys of the environment that differ from those of .env`,
    facts: { variables: overriddenKeys.join(', ') },
    hint: 'unset them, or remove them from .env',
  })
}

function checkAddress(
  request: RequestOf<'spotWithdrawal'>,
  { environment, withdrawal }: GuardedCall['config'],
): string | undefined {
  const { coin, chain, tag } = request
  const recipient = recipientOf(request)
  const isListed = withdrawal.addresses.some(
    (entry) =>
      entry.address === recipient &&
      entry.tag === tag &&
      (entry.coin === undefined || entry.coin === coin) &&
      (entry.chain === undefined || entry.chain === chain),
  )
  if (isListed) return undefined
  if (environment === 'simulator') {
    return 'withdrawal.addresses does not list this address: allowed, because the exchange is a simulated one'
  }
  const listed = withdrawal.addresses.length
  throw new CallRefused({
    code: 'CALL_ADDRESS_NOT_LISTED',
    sentence: 'withdrawal.addresses does not list this address, coin, chain and tag',
    facts: {
      address: recipient,
      coin,
      ...(chain === undefined ? {} : { chain }),
      ...(tag === undefined ? {} : { tag }),
      listed: listed === 0 ? 'none: nothing may be withdrawn' : listed,
    },
    hint: 'add it under withdrawal.addresses in the configuration file',
  })
}
