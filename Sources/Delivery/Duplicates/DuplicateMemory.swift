import AMQP
import Crypto
import EventLoop
import Hashing
import Threads

/// The requests that a process has delivered or is delivering, so that none is pushed twice because it came twice: from its
/// producer, from a wait queue, or from the broker after a lost channel. All lanes share it; its locks are the only ones on
/// the path of a request (decision 11).
///
/// A **duplicate** is a delivery with the id and body of another. `DuplicateTable`, which is pure, does most of the work.
///
/// `@unchecked Sendable`: `channelsOpened` and `lostChannels` are used under their lock.
public final class DuplicateMemory: @unchecked Sendable {
    /// One opening of a channel on which deliveries come.
    public struct Channel: Sendable, Hashable {
        /// Repeats after 65,536 openings: too late for a confusion.
        let number: UInt16
    }

    /// What is known of the request of a delivery.
    enum Admission: Equatable {
        /// Nothing. The delivery ends with `settle` or `forget`.
        case first
        /// The first delivery of the request is in flight: `join` it.
        case inFlight
        /// APNs has accepted the request: only a result is due.
        case accepted
        /// The verdict was published before the channel of the delivery was lost: only an acknowledgement is due.
        case settled
    }

    /// How the first delivery ended, for a delivery that joined it.
    enum FirstEnd: Equatable {
        /// The delivery is a duplicate and shares the verdict.
        case shared(Verdict)
        /// The delivery is the first one again, since its channel was lost or it was published twice, and ends with it.
        case same
    }

    /// A delivery that waits for the end of the first one. A base class.
    ///
    /// `@unchecked Sendable`: `relation` is written under the lock of the stripe, before the waiter can be resumed.
    class Waiter: @unchecked Sendable {
        /// Of the lane.
        let owner: ObjectIdentifier?
        fileprivate(set) var relation = Relation.duplicate

        init(owner: ObjectIdentifier?) { self.owner = owner }

        /// Called once, on any thread. nil: begin again, since the first delivery was requeued undecided, or has gone to the
        /// wait from which this one is back, or since the lane ends.
        func firstEnded(_ end: FirstEnd?) {}

        final func resume(_ verdict: Verdict?) {
            switch (relation, verdict) {
            // There may be no other first: if its publish was repeated, its wait id identifies the repeat.
            case (.early, _), (_, nil): firstEnded(nil)
            case (.same, _?): firstEnded(.same)
            case (.duplicate, let verdict?): firstEnded(.shared(verdict))
            }
        }
    }

    /// What a delivery is to the first one.
    enum Relation {
        case duplicate
        case same
        /// It is back from the wait to which the first one is just being sent.
        case early
    }

    /// Settled requests that are remembered at least; a stripe has a sixteenth more than its share, since keys do not spread
    /// evenly.
    public static let settledMax = 100_000
    /// An acknowledgement that was decided so shortly before its channel was lost may not have arrived: it is gathered with
    /// others, then sent.
    static let lateAcknowledgementSecondsMax = 5
    private static let stripeCount = 16

    private let mixer = SecretMixer()
    private let stripes: [DuplicateStripe]
    private let channelLock = ThreadLock()
    private var channelsOpened: UInt16 = 0
    private var lostChannels = LostChannels()

    /// - Parameter settledMax: for tests.
    init(settledMax: Int) {
        let share = settledMax / Self.stripeCount
        stripes = (0..<Self.stripeCount).map { _ in DuplicateStripe(settledMax: share + share / 16 + 1) }
    }

    public convenience init() { self.init(settledMax: Self.settledMax) }

    /// Memory of the tables.
    var bytes: Int { stripes.reduce(0) { sum, stripe in sum + stripe.withLock { $0.table.bytes } } }

    func key(id: UUIDValue, of content: MessageContent) -> DeduplicationKey {
        content.withBody { mixer.deduplicationKey(id: id, body: $0) }
    }

    func fingerprint(of properties: MessageProperties) -> UInt32 { mixer.fingerprint(of: properties) }

    /// Returns a channel on which deliveries will come.
    func openChannel() -> Channel {
        channelLock.withLock {
            channelsOpened &+= 1
            return Channel(number: channelsOpened)
        }
    }

    /// The deliveries of the channel that were not acknowledged come again.
    func lose(_ channel: Channel, now: MonotonicTime) {
        channelLock.withLock { lostChannels.add(channel, at: now) }
    }

    /// - Parameter channels: that lanes of the process have open at the same time, and that an outage loses at once.
    func expect(channels: Int) {
        channelLock.withLock { lostChannels.expect(channels: channels) }
    }

    private func lossTime(of channel: Channel) -> MonotonicTime? {
        channelLock.withLock { lostChannels.time(of: channel) }
    }

    func begin(_ key: DeduplicationKey, _ candidate: DuplicateCandidate) -> Admission {
        stripe(of: key).withLock { stripe in
            switch stripe.table.find(key) {
            case .nothing:
                stripe.table.begin(key, candidate)
                return .first
            case .delivering:
                return .inFlight
            case .settled(let isAccepted, let held, let time, let hasCopies):
                if candidate.isRepeated(held) {
                    stripe.table.noteTwin(key, on: candidate.channel)
                    return .settled
                }
                if candidate.isAgain(held), let lost = lost(held, candidate, settledAt: time, hasCopies: hasCopies) {
                    // Once: a further one is a duplicate.
                    stripe.table.move(key, from: lost, to: candidate)
                    return .settled
                }
                if candidate.waitID == 0 { stripe.table.noteCopy(key) }
                if isAccepted { return .accepted }
                stripe.table.begin(key, candidate)
                return .first
            }
        }
    }

    /// Returns the channel with which the acknowledgement was lost, or may have been, so that the broker delivers the request
    /// again. In doubt the delivery is a duplicate: if there are some, only a delivery settled after the loss is the same.
    private func lost(
        _ held: DuplicateTable.Held, _ candidate: DuplicateCandidate, settledAt: MonotonicTime, hasCopies: Bool
    ) -> Channel? {
        let late = Duration.seconds(hasCopies ? 0 : Self.lateAcknowledgementSecondsMax)
        return lost(held, candidate) { settledAt.duration(to: $0) <= late }
    }

    private func lost(
        _ held: DuplicateTable.Held, _ candidate: DuplicateCandidate, when isSo: (MonotonicTime) -> Bool = { _ in true }
    ) -> Channel? {
        func isLost(_ channel: Channel) -> Bool {
            lossTime(of: channel).map { candidate.mayFollow($0) && isSo($0) } ?? false
        }
        if isLost(held.channel) { return held.channel }
        return held.twin.flatMap { isLost($0) ? $0 : nil }
    }

    /// Has the waiter resumed once the first delivery ends. Returns false if none is in flight.
    func join(_ key: DeduplicationKey, _ candidate: DuplicateCandidate, _ waiter: Waiter) -> Bool {
        stripe(of: key).withLock { stripe in
            guard case .delivering(let held) = stripe.table.find(key) else { return false }
            if candidate.isRepeated(held) {
                waiter.relation = .same
                stripe.table.noteTwin(key, on: candidate.channel)
            } else if candidate.isAgain(held), let lost = lost(held, candidate) {
                waiter.relation = .same
                stripe.table.move(key, from: lost, to: candidate)
            } else if candidate.isBack(held) {
                waiter.relation = .early
            } else {
                stripe.table.noteCopy(key)
            }
            stripe.wait(for: key, waiter)
            return true
        }
    }

    /// The lane ends: its deliveries no longer wait for those of other lanes.
    func endWaits(of owner: ObjectIdentifier) {
        for stripe in stripes {
            for waiter in stripe.withLock({ $0.takeWaiters(of: owner) }) { waiter.resume(nil) }
        }
    }

    /// The request is about to be published for a wait queue, from which it may return before the broker confirms the
    /// publish.
    func sendToWait(_ key: DeduplicationKey, waitID: UInt32) {
        stripe(of: key).withLock { $0.table.sendToWait(key, waitID: waitID) }
    }

    /// The broker confirmed the publishes of the verdict.
    func settle(_ key: DeduplicationKey, _ verdict: Verdict, now: MonotonicTime) {
        let waiters = stripe(of: key).withLock { stripe in
            stripe.table.settle(key, isAccepted: verdict.isAccepted, now: now)
            return stripe.takeWaiters(key)
        }
        for waiter in waiters { waiter.resume(verdict) }
    }

    /// The request returned to the broker undecided.
    func forget(_ key: DeduplicationKey) {
        let waiters = stripe(of: key).withLock { stripe in
            stripe.table.forget(key)
            return stripe.takeWaiters(key)
        }
        for waiter in waiters { waiter.resume(nil) }
    }

    private func stripe(of key: DeduplicationKey) -> DuplicateStripe {
        // The table takes the low bits of the other half.
        stripes[Int(truncatingIfNeeded: key.high) & (Self.stripeCount - 1)]
    }
}
