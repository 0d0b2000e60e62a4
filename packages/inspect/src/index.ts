export {
  ArchiveError,
  type ArchiveFault,
  type ArchiveHeader,
  type ArchiveRecord,
} from './transfer/archive/archive.ts'
export type { ArchiveSource } from './transfer/archive/read.ts'
export { ImportError } from './transfer/archive/restore.ts'
export { audit, type AuditOptions, type AuditResult, type AuditStep } from './judge/audit.ts'
export type { Estimate } from './measure/estimate.ts'
export type { Eviction } from './scan/eviction.ts'
export type { Finding } from './judge/finding.ts'
export type { FindingCode } from './judge/fault.ts'
export {
  copyKeys,
  type CopyOptions,
  type CopyPreview,
  type CopyResult,
  previewCopy,
} from './transfer/copy.ts'
export { diffArchive, type DiffResult, diffServers, type DiffStep } from './transfer/diff.ts'
export type { Difference, DiffOptions, Side } from './transfer/difference.ts'
export {
  cleanupKeys,
  type CleanupOptions,
  type CleanupStep,
  keepsIdleTimes,
  MOST_IDLE_MS,
} from './change/cleanup.ts'
export { type Diagnosis, type DiagnosisCode } from './doctor/diagnosis.ts'
export { doctor, type DoctorOptions } from './doctor/doctor.ts'
export { type ServerPolicy } from './doctor/server-needs.ts'
export { erase, type EraseOptions, previewErase } from './change/erase.ts'
export type { EraseResult, EraseShare } from './change/erase-sums.ts'
export type { MigrateResult, MigrateRule, MigrateState } from './change/migrate-sums.ts'
export type { CleanupResult, PolicyProblem, PolicyViolation, ViolationSum } from './change/violation-sums.ts'
export { type Operation, StartedTwiceError, type Step, StoppedError } from './operation/operation.ts'
export type { Remedy, Setting } from './remedy/remedy.ts'
export { type DocsCommands, renderDocs, type RenderDocsOptions } from './docs/docs.ts'
export type { DecodedPart } from './judge/decoded.ts'
export { explain, type ExplainedValue, type Explanation, type ExplainOptions } from './judge/explain.ts'
export { expectedType } from './match/expected-type.ts'
export {
  exportKeys,
  type ExportOptions,
  type ExportResult,
  type ExportStep,
  schemaDigest,
} from './transfer/export.ts'
export {
  importKeys,
  type ImportOptions,
  type ImportPreview,
  type ImportResult,
  previewImport,
  type Rename,
} from './transfer/import.ts'
export {
  type ArchiveContents,
  inspectArchive,
  type InspectArchiveOptions,
} from './transfer/inspect-archive.ts'
export type { EntrySum, TypeSum } from './transfer/sum.ts'
export { escapeKey, unescapeKey } from './match/key-name.ts'
export { lint, type LintIssue, type LintOptions } from './lint/lint.ts'
export { type Change, type ChangeCode, type Impact } from './manifest/change.ts'
export { compareManifests } from './manifest/compare.ts'
export {
  type Manifest,
  manifest,
  type ManifestEntry,
  type ManifestKey,
  type ManifestOptions,
  type ManifestValue,
} from './manifest/manifest.ts'
export { withEvidence } from './change/phase-evidence.ts'
export { manifestSchema } from './manifest/manifest-schema.ts'
export { matcher, type Matcher } from './match/matcher.ts'
export {
  type MigrateOptions,
  planMigration,
  rollBackMigration,
  runMigration,
  type RunOptions,
  verifyMigration,
  type VerifyOptions,
} from './change/migrate.ts'
export type { RenameRule } from './match/rename-rules.ts'
export type { NearMatch } from './match/nearest.ts'
export { OptionError } from './scan/option-error.ts'
export { DEFAULT_LOAD, throttle, type Throttle } from './scan/throttle.ts'
export type { StoredValue } from './scan/peek.ts'
export {
  type BuiltKey,
  findKeys,
  type FindOptions,
  type FoundKey,
  type Selection,
  type SelectionOptions,
  selectKeys,
} from './scan/selection.ts'
export { replicaSnapshot, type ReplicaTarget } from './rdb/replica.ts'
export { SnapshotError, type SnapshotFault } from './rdb/snapshot-error.ts'
export type { SnapshotFacts } from './rdb/snapshot-facts.ts'
export {
  snapshotSource,
  type SnapshotPart,
  type SnapshotSource,
  type SnapshotSourceOptions,
} from './rdb/snapshot.ts'
export {
  aclLine,
  type Permissions,
  permissionsOf,
  permissionsOfTools,
  probePermissions,
} from './permission/permissions.ts'
export type { Permission } from './permission/acl-rules.ts'
export type { KeySource } from './scan/source.ts'
export type { ValueOptions } from './scan/values.ts'
export { type BigKey, stats, type Stats, type StatsGroup, type StatsOptions } from './measure/stats.ts'
export type { Bucket, KeyStats, NamedShare, Share } from './measure/tally.ts'
export { usage, type Usage, type UsageOptions } from './measure/usage.ts'
export {
  type Fact,
  inspectKeys,
  type KeyFacts,
  scanKeys,
  type ScanOptions,
  type ScanStep,
} from './scan/scan.ts'
