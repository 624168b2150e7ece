import { listContractRemarks } from '../../config/contract-remarks.ts'
import type { ContractAnswers } from '../../config/known-contracts.ts'
import type { LoadedConfig } from '../../config/load-config.ts'
import { accountLogger } from '../../logging/account-logger.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

export function logContracts(
  accounts: readonly LoadedConfig[],
  contracts: ContractAnswers | undefined,
  logger: DaemonLogger,
): void {
  for (const account of accounts) {
    const { file, name } = account.config
    const answer = contracts?.get(file)
    const log = accounts.length > 1 ? accountLogger(logger, name) : logger
    if (answer?.now !== undefined) {
      const { productType, contracts: listed } = answer.now
      log.log('info', 'contracts.read', { productType, contracts: listed.size })
    }
    for (const { event, symbol, problem } of listContractRemarks(account, answer)) {
      const { message: reason } = problem
      if (event === 'contracts.notRead') log.log('warn', 'contracts.notRead', { reason })
      else if (event === 'contract.changed') log.log('warn', 'contract.changed', { symbol, reason })
      else log.log('warn', 'contract.differs', { symbol, reason })
    }
  }
}
