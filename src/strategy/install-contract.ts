// With `node --import` of this file, a program can import `#strategy`.
import { installContractResolution } from './resolve-contract.ts'

installContractResolution()
