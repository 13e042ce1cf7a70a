import { OUTPUTS_CONTAINER } from './names.js';

/**
 * What asks common log collectors to leave the outputs' log alone; the bundle's own is theirs. Hints and no protection: whoever
 * reads the logs of a namespace reads this one, and a collector looks at them only where it is set up to. Sensitive outputs
 * are therefore not in it at all. The forms are of single containers, as documented by Datadog ("Container Discovery
 * Management"), Elastic ("Hints based autodiscover", container-level hints), Fluent Bit (Kubernetes filter,
 * `exclude[_stream][-container]`, needs K8S-Logging.Exclude), Vector (`kubernetes_logs`, "Container exclusion") and the
 * OpenTelemetry collector (receiver_creator, logs annotations). Of Promtail and Alloy there is none for a single container.
 */
export const COLLECTOR_HINTS: Readonly<Record<string, string>> = {
  [`ad.datadoghq.com/${OUTPUTS_CONTAINER}.logs_exclude`]: 'true',
  [`co.elastic.logs.${OUTPUTS_CONTAINER}/enabled`]: 'false',
  [`fluentbit.io/exclude-${OUTPUTS_CONTAINER}`]: 'true',
  'vector.dev/exclude-containers': OUTPUTS_CONTAINER,
  [`io.opentelemetry.discovery.logs.${OUTPUTS_CONTAINER}/enabled`]: 'false',
};
