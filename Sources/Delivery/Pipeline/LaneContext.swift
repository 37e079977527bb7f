import APNS
import EventLoop
import Registrations
import Telemetry

/// The dependencies of a lane's components.
struct LaneContext {
    let loop: EventLoop
    let configuration: LaneConfiguration
    let connectors: Lane.Connectors
    /// The sources of provider tokens. The pools of a key without a source sign their own tokens.
    let tokens: [Credential.Name: TokenSupply]
    let counters: LaneCounters
    let duplicates: DuplicateMemory
    /// The lane's connection to the store; nil if device registrations are not configured.
    let registrations: RegistrationReader?
    let log: Log
    let onSpans: (@Sendable (SpanBuffer) -> Void)?
    let onJournal: (@Sendable (JournalBuffer) -> Void)?
    let onStateChange: @Sendable (LaneState) -> Void
}
