import { convert, convertHandlers, openConvert } from '../../../src/simulator/convert/convert.ts'
import { type ConvertSettings } from '../../../src/simulator/convert/convert-settings.ts'
import { type ServicePorts } from '../../../src/simulator/services/service-ports.ts'
import { Part, type ServiceBench } from '../wallet/service-bench.ts'

/** Making a conversion is no endpoint, but asked for like one. */
const HANDLERS = { ...convertHandlers, convert }

export function openConvertPart(
  { market }: ServiceBench,
  ports: ServicePorts,
  settings: Partial<ConvertSettings> = {},
) {
  return new Part(market, openConvert(ports, settings), HANDLERS)
}

export type ConvertPart = ReturnType<typeof openConvertPart>
