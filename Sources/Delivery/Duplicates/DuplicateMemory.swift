import AMQP
import Crypto
import EventLoop
import Hashing
import Threads

/// The requests in flight and the last settled requests of a process. The memory prevents a second push of a request
/// that is in flight or that APNs accepted. Duplicates come from the producer, from a wait queue, or from the broker
/// after a lost channel.
///
/// All lanes share the memory. Its locks are the only locks on the path of a request (decision 11). A **duplicate** is
/// a delivery with the id and body of another. `DuplicateTable`, which is pure, does most of the work.
///
/// `@unchecked Sendable`: `channelsOpened` and `lostChannels` are used under `channelLock`.
public final class DuplicateMemory: @unchecked Sendable {
    /// One opening of a consumer's channel.
    public struct Channel: Sendable, Hashable {
        /// The number of the opening, modulo 65,536. The memory forgets a lost channel before another channel gets the
        /// same number.
        let number: UInt16
    }

    /// The state of a delivery's request in the memory.
    enum Admission: Equatable {
        /// An unknown request, or a request that must be processed again. The caller ends the delivery with `settle` or
        /// `forget`.
        case first
        /// A request whose first delivery is in flight. The caller calls `join`.
        case inFlight
        /// A request that APNs accepted. The caller publishes only a result.
        case accepted
        /// The settled delivery again, since its channel was lost or the request was published twice. The caller only
        /// acknowledges the delivery.
        case settled
    }

    /// The end of the first delivery, as reported to a delivery that joined it.
    enum FirstEnd: Equatable {
        /// The verdict on the first delivery, which its duplicate shares.
        case shared(Verdict)
        /// The first delivery again, since its channel was lost or the request was published twice. The lane only
        /// acknowledges the delivery.
        case same
    }

    /// A delivery that waits for the end of the first delivery. A base class.
    ///
    /// `@unchecked Sendable`: `relation` is written under the lock of the stripe, before the waiter can be resumed.
    class Waiter: @unchecked Sendable {
        /// The identity of the duplicate filter of the delivery's lane; nil in tests without lanes.
        let owner: ObjectIdentifier?
        fileprivate(set) var relation = Relation.duplicate

        init(owner: ObjectIdentifier?) { self.owner = owner }

        /// Resumes the delivery. Called once, on any thread.
        ///
        /// - Parameter end: The end of the first delivery. nil if this delivery must begin again. Reasons: the memory
        ///   forgot the first delivery, this delivery is early (`Relation.early`), or the lane ends.
        func firstEnded(_ end: FirstEnd?) {}

        final func resume(_ verdict: Verdict?) {
            switch (relation, verdict) {
            // An early delivery begins again and becomes the first delivery. If its publish was repeated, the wait id
            // identifies the repeat.
            case (.early, _), (_, nil): firstEnded(nil)
            case (.same, _?): firstEnded(.same)
            case (.duplicate, let verdict?): firstEnded(.shared(verdict))
            }
        }
    }

    /// The relation of a delivery to the first delivery of its request.
    enum Relation {
        case duplicate
        /// The first delivery again.
        case same
        /// A delivery of the republished request, while the first delivery still waits for the confirm of the
        /// republish.
        case early
    }

    /// The number of settled requests for which the memory is sized. Each stripe holds a sixteenth more than its share,
    /// because keys spread unevenly.
    public static let settledMax = 100_000
    /// The length of the period before a channel loss in which an acknowledgment may have been lost, since
    /// acknowledgments are batched.
    static let lateAcknowledgmentSecondsMax = 5
    private static let stripeCount = 16

    private let mixer = SecretMixer()
    private let stripes: [DuplicateStripe]
    private let channelLock = ThreadLock()
    private var channelsOpened: UInt16 = 0
    private var lostChannels = LostChannels()

    /// Creates a memory.
    ///
    /// - Parameter settledMax: The number of settled requests for which the memory is sized.
    init(settledMax: Int) {
        let share = settledMax / Self.stripeCount
        stripes = (0..<Self.stripeCount).map { _ in DuplicateStripe(settledMax: share + share / 16 + 1) }
    }

    public convenience init() { self.init(settledMax: Self.settledMax) }

    /// The size of the tables, in bytes.
    var bytes: Int { stripes.reduce(0) { sum, stripe in sum + stripe.withLock { $0.table.bytes } } }

    func key(id: UUIDValue, of content: MessageContent) -> DeduplicationKey {
        content.withBody { mixer.deduplicationKey(id: id, body: $0) }
    }

    func fingerprint(of properties: MessageProperties) -> UInt32 { mixer.fingerprint(of: properties) }

    /// Registers the opening of a channel.
    func openChannel() -> Channel {
        channelLock.withLock {
            channelsOpened &+= 1
            return Channel(number: channelsOpened)
        }
    }

    /// Records the loss of a channel. The broker redelivers its unacknowledged deliveries.
    func lose(_ channel: Channel, now: MonotonicTime) {
        channelLock.withLock { lostChannels.add(channel, at: now) }
    }

    /// Enlarges the memory of lost channels if it is too small.
    ///
    /// - Parameter channels: The number of channels that the lanes of the process have open at the same time, and may
    ///   lose in one outage.
    func expect(channels: Int) {
        channelLock.withLock { lostChannels.expect(channels: channels) }
    }

    private func lossTime(of channel: Channel) -> MonotonicTime? {
        channelLock.withLock { lostChannels.time(of: channel) }
    }

    /// Returns the state of the request of a delivery, and registers a first delivery.
    func begin(_ key: DeduplicationKey, _ candidate: DuplicateCandidate) -> Admission {
        stripe(of: key).withLock { stripe in
            switch stripe.table.find(key) {
            case .nothing:
                stripe.table.begin(key, candidate)
                return .first
            case .delivering:
                return .inFlight
            case .settled(let isAccepted, let held, let time, let hasDuplicates):
                if candidate.isRepublish(of: held) {
                    stripe.table.setTwin(key, on: candidate.channel)
                    return .settled
                }
                if candidate.isRedelivery(of: held),
                    let lost = lost(held, candidate, settledAt: time, hasDuplicates: hasDuplicates)
                {
                    // Accept one redelivery for each loss of a channel. A further redelivery is a duplicate.
                    stripe.table.move(key, from: lost, to: candidate)
                    return .settled
                }
                if candidate.waitID == 0 { stripe.table.markDuplicated(key) }
                if isAccepted { return .accepted }
                stripe.table.begin(key, candidate)
                return .first
            }
        }
    }

    /// Returns the lost channel whose loss may have dropped the acknowledgment; nil if there is no such channel. After
    /// such a loss, the broker delivers the request again. If the request has duplicates, only a loss before the
    /// settlement qualifies.
    private func lost(
        _ held: DuplicateTable.Held, _ candidate: DuplicateCandidate, settledAt: MonotonicTime, hasDuplicates: Bool
    ) -> Channel? {
        let late = Duration.seconds(hasDuplicates ? 0 : Self.lateAcknowledgmentSecondsMax)
        return lost(held, candidate) { settledAt.duration(to: $0) <= late }
    }

    private func lost(
        _ held: DuplicateTable.Held, _ candidate: DuplicateCandidate,
        when isRelevant: (MonotonicTime) -> Bool = { _ in true }
    ) -> Channel? {
        func isLost(_ channel: Channel) -> Bool {
            lossTime(of: channel).map { candidate.mayFollow($0) && isRelevant($0) } ?? false
        }
        if isLost(held.channel) { return held.channel }
        return held.twin.flatMap { isLost($0) ? $0 : nil }
    }

    /// Registers a waiter, which is resumed when the first delivery ends. Also records the relation of the waiter's
    /// delivery to the first delivery. Returns false and records nothing if no first delivery is in flight.
    func join(_ key: DeduplicationKey, _ candidate: DuplicateCandidate, _ waiter: Waiter) -> Bool {
        stripe(of: key).withLock { stripe in
            guard case .delivering(let held) = stripe.table.find(key) else { return false }
            if candidate.isRepublish(of: held) {
                waiter.relation = .same
                stripe.table.setTwin(key, on: candidate.channel)
            } else if candidate.isRedelivery(of: held), let lost = lost(held, candidate) {
                waiter.relation = .same
                stripe.table.move(key, from: lost, to: candidate)
            } else if candidate.returnsFromWait(of: held) {
                waiter.relation = .early
            } else {
                stripe.table.markDuplicated(key)
            }
            stripe.wait(for: key, waiter)
            return true
        }
    }

    /// Resumes all waiters of a lane that ends.
    func endWaits(of owner: ObjectIdentifier) {
        for stripe in stripes {
            for waiter in stripe.withLock({ $0.takeWaiters(of: owner) }) { waiter.resume(nil) }
        }
    }

    /// Records that the request is about to be republished with this wait id. The message goes to a wait queue, or to
    /// the queue of the request after a chunk. The request may return before the broker confirms the republish.
    func sendToWait(_ key: DeduplicationKey, waitID: UInt32) {
        stripe(of: key).withLock { $0.table.sendToWait(key, waitID: waitID) }
    }

    /// Records the verdict on a settled delivery, and resumes the waiters of the request.
    func settle(_ key: DeduplicationKey, _ verdict: Verdict, now: MonotonicTime) {
        let waiters = stripe(of: key).withLock { stripe in
            stripe.table.settle(key, isAccepted: verdict.isAccepted, now: now)
            return stripe.takeWaiters(key)
        }
        for waiter in waiters { waiter.resume(verdict) }
    }

    /// Removes a request, so that its next delivery is a first delivery again. Resumes the waiters of the request.
    func forget(_ key: DeduplicationKey) {
        let waiters = stripe(of: key).withLock { stripe in
            stripe.table.forget(key)
            return stripe.takeWaiters(key)
        }
        for waiter in waiters { waiter.resume(nil) }
    }

    private func stripe(of key: DeduplicationKey) -> DuplicateStripe {
        // The table selects slots by the low half of the key.
        stripes[Int(truncatingIfNeeded: key.high) & (Self.stripeCount - 1)]
    }
}
