// For `node --import`: what it loads may import `#strategy`.
import { installContractResolution } from './resolve-contract.ts'

installContractResolution()
