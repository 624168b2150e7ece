// For `node --import`: a program can then import `intentd/strategy`.
import { installContractResolution } from './resolve-contract.ts'

installContractResolution()
