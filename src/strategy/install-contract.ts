// With `node --import` of this file, a program can import `intentd/strategy`.
import { installContractResolution } from './resolve-contract.ts'

installContractResolution()
