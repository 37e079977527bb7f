import ControlProtocol
import Crypto
import EventLoop

/// The decision which commands of the stream a worker runs. It performs no I/O.
///
/// A worker runs each command at most once. After an absence of at most ``absenceSecondsMax`` seconds, it reads the
/// commands that it has missed. After a longer absence, it ignores them. The clocks of workers and operators are not
/// compared.
struct CommandWindow: Sendable {
    /// Maximum number of remembered ids.
    static let idsMax = 1000
    /// Maximum number of commands that a worker runs in a second.
    static let commandsPerSecondMax = 20
    /// Maximum absence after which a worker runs the commands that it has missed.
    static let absenceSecondsMax = 60

    enum Decision: Equatable, Sendable {
        case run(FleetCommand.Action)
        /// A reply with the outcome `busy`.
        case busy
        /// A reply with the outcome `unsupported`.
        case unsupported(String)
        /// No reply, because the command is for other workers, or is known.
        case ignore
    }

    /// The position at which the consumer of the stream starts.
    enum Position: Equatable, Sendable {
        /// Behind the last record of the stream.
        case next
        /// The record with this offset, which the worker knows. In the same stream, the record or a later one arrives
        /// immediately.
        case known(Int64)
    }

    private enum Connection: Sendable {
        /// To: attached.
        case new
        /// To: absent.
        case attached
        /// To: attached, new.
        case absent(since: MonotonicTime)
    }

    private let worker: String
    private var connection = Connection.new
    /// The offset of the last record that the worker knows; nil if the worker knows no record of the stream.
    private var lastOffset: Int64?
    /// The last ids, as a ring.
    private var ids: [UUIDValue] = []
    private var oldestID = 0
    private var knownIDs: Set<UUIDValue> = []
    /// The times of the admitted commands of the last second, oldest first. At most ``commandsPerSecondMax`` times.
    private var runAt: [MonotonicTime] = []

    /// - Parameter worker: the name of this worker.
    init(worker: String) { self.worker = worker }

    /// Returns the position for an attempt to start the consumer. Forgets the last offset after a long absence, so that
    /// a later attempt cannot return to commands that this attempt skips.
    mutating func position(at now: MonotonicTime) -> Position {
        if case .absent(let since) = connection, since + .seconds(Self.absenceSecondsMax) < now {
            (connection, lastOffset) = (.new, nil)
        }
        return lastOffset.map { .known($0) } ?? .next
    }

    mutating func attached() { connection = .attached }

    /// Records the loss of the connection.
    ///
    /// - Parameter heardAt: the last time at which the connection certainly worked, such as the time of its last frame.
    ///   The worker notices the loss later, and the absence includes the time until then.
    mutating func detached(heardAt: MonotonicTime) {
        if case .attached = connection { connection = .absent(since: heardAt) }
    }

    /// Forgets the last offset, because a stream that is declared again begins at offset 0.
    mutating func streamDeleted() { lastOffset = nil }

    /// Learns the offset of the newest record that the stream contained when the worker attached at `next`, from
    /// another reader. Without it, a worker that has read no record would miss the commands of a short absence.
    mutating func learned(offset: Int64) {
        guard case .attached = connection else { return }
        lastOffset = max(offset, lastOffset ?? offset)
    }

    /// Records that a record was read, whether or not it is a valid command. Returns whether the record is new.
    mutating func recordRead(offset: Int64) -> Bool {
        if let lastOffset, offset <= lastOffset { return false }
        lastOffset = offset
        return true
    }

    /// Decides on a command. A decision other than `ignore` remembers the id, so a worker replies to an id once.
    mutating func decide(_ command: FleetCommand, now: MonotonicTime) -> Decision {
        guard command.addresses(worker), remember(command.id) else { return .ignore }
        runAt.removeAll { !now.isWithin(.seconds(1), of: $0) }
        guard runAt.count < Self.commandsPerSecondMax else { return .busy }
        runAt.append(now)
        if case .unsupported(let name) = command.action { return .unsupported(name) }
        return .run(command.action)
    }

    /// Returns false if the id is known.
    private mutating func remember(_ id: UUIDValue) -> Bool {
        guard knownIDs.insert(id).inserted else { return false }
        if ids.count < Self.idsMax {
            ids.append(id)
        } else {
            knownIDs.remove(ids[oldestID])
            ids[oldestID] = id
            oldestID = (oldestID + 1) % Self.idsMax
        }
        return true
    }
}
