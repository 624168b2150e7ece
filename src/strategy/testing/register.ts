/** Preloaded by `intentd test`: `intentd/strategy` and `intentd/testing` are found from any folder. */
import { installContractResolution } from '../resolve-contract.ts'

installContractResolution()
