export { ArchiveError, type ArchiveFault, type ArchiveHeader, type ArchiveRecord } from './archive/archive.ts'
export { type ArchiveSource } from './archive/read.ts'
export { ImportError } from './archive/restore.ts'
export { owned, type Owned } from '../schema.ts'
export { audit, type Audited, type AuditOptions } from './audit.ts'
export { type Estimate } from './estimate.ts'
export { type Eviction } from './eviction.ts'
export { type Finding, type FindingCode } from './finding.ts'
export { type Copied, copyKeys, type CopyOptions, type CopyPreview, previewCopy } from './copy.ts'
export {
  diffArchive,
  type Difference,
  type DiffOptions,
  diffServers,
  type DiffStep,
  type Side,
} from './diff.ts'
export {
  cleanUp,
  type CleanUpOptions,
  keepsIdleTimes,
  MOST_IDLE_MS,
  type Overdue,
  type OverdueProblem,
} from './cleanup.ts'
export { type Diagnosis, type DiagnosisCode } from './doctor/diagnosis.ts'
export { doctor, type DoctorOptions } from './doctor/doctor.ts'
export { type ServerPolicy } from './doctor/server-needs.ts'
export { erasable, erase, type EraseOptions, type ErasePortion } from './erase.ts'
export { describe, type DescribeOptions } from './describe/describe.ts'
export { type Decoded } from './decoded.ts'
export { explain, type ExplainedValue, type Explanation, type ExplainOptions } from './explain.ts'
export { expectedType } from './expected-type.ts'
export { type Exported, exportKeys, type ExportOptions, type ExportStep, schemaDigest } from './export.ts'
export {
  type ArchiveContents,
  importKeys,
  type Imported,
  type ImportOptions,
  type ImportPreview,
  inspectArchive,
  previewImport,
  type Rename,
} from './import.ts'
export { keyFrom, shown, textOf } from './key-name.ts'
export { type Flaw, lint, type LintOptions } from './lint/lint.ts'
export { type Change, type ChangeCode, type Impact } from './manifest/change.ts'
export { compare } from './manifest/compare.ts'
export {
  type Manifest,
  manifest,
  type ManifestEntry,
  type ManifestKey,
  type ManifestOptions,
  type ManifestValue,
} from './manifest/manifest.ts'
export { manifestSchema } from './manifest/manifest-schema.ts'
export { matcher, type Matcher } from './matcher.ts'
export {
  type MigrateOptions,
  type MigratePortion,
  type MigrateState,
  planMigration,
  rollBackMigration,
  runMigration,
  type RunOptions,
  verifyMigration,
  type VerifyOptions,
} from './migrate.ts'
export { type Rule } from './migrate-rules.ts'
export { type Near } from './nearest.ts'
export { DEFAULT_LOAD, pace, type Pace } from './pace.ts'
export { type StoredValue } from './peek.ts'
export {
  type BuiltKey,
  find,
  type FindOptions,
  type FoundKey,
  select,
  type Selection,
  type SelectionOptions,
} from './selection.ts'
export { replicaSnapshot, type ReplicaTarget } from './snapshot/replica.ts'
export { SnapshotError, type SnapshotFault } from './snapshot/snapshot-error.ts'
export { type SnapshotFacts } from './snapshot/snapshot-facts.ts'
export {
  snapshotSource,
  type SnapshotPart,
  type SnapshotSource,
  type SnapshotSourceOptions,
} from './snapshot/snapshot.ts'
export { type KeySource, type ValueOptions } from './source.ts'
export { type BigKey, stats, type Stats, type StatsGroup, type StatsOptions } from './stats.ts'
export { type Bucket, type NamedPortion, type Portion, type Tallied } from './tally.ts'
export { usage, type Usage, type UsageOptions } from './usage.ts'
export { type Fact, look, type SeenKey, walk, type WalkOptions, type WalkStep } from './walk.ts'
