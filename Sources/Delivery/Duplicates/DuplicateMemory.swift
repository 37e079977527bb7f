import AMQP
import Crypto
import EventLoop
import Hashing
import Threads

/// What a process remembers of the messages that it delivers, so that none is pushed twice because it came twice: from
/// its producer, from a wait queue, or from the broker after a lost channel. One for all lanes; where it has locks is
/// the one place on the way of a message that has any (decision 11).
///
/// A **copy** is a delivery of the same id and body as another. Most of the work is `DuplicateTable`'s, which is pure.
///
/// `@unchecked Sendable`: `lostChannels` and its neighbour are used under their lock.
public final class DuplicateMemory: @unchecked Sendable {
    /// One opening of a channel that deliveries came on.
    public struct Channel: Sendable, Hashable {
        /// Comes again after 65,536: too late to be taken for the other.
        let number: UInt16
    }

    /// What becomes of a delivery.
    enum Admission: Equatable {
        /// Nothing stands against delivering it. It ends with `settle` or `forget`.
        case first
        /// The same is on its way: ask for that one's ending.
        case busy
        /// APNs has it: only a result is due.
        case accepted
        /// What became of it was published before its channel was lost: acknowledge it, and no more.
        case done
    }

    /// How the delivery that was on its way ended.
    enum Ending: Equatable {
        /// This one is a copy of it, and goes by its verdict.
        case shared(Verdict)
        /// This one is the same, whose channel was lost or which was published twice, and has ended with it.
        case same
    }

    struct Waiter {
        /// The lane of the delivery that waits, which the waiting task keeps alive.
        let lane: ObjectIdentifier?
        let continuation: UnsafeContinuation<Verdict?, Never>

        func resume(returning verdict: Verdict?) { continuation.resume(returning: verdict) }
    }

    /// Settled messages that are remembered at least; a stripe has a sixteenth more than its share, since keys do not spread
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

    /// What it takes.
    var bytes: Int { stripes.reduce(0) { sum, stripe in sum + stripe.withLock { $0.table.bytes } } }

    func key(id: UUIDValue, of content: MessageContent) -> DeduplicationKey {
        content.withBody { mixer.deduplicationKey(id: id, body: $0) }
    }

    func fingerprint(of properties: MessageProperties) -> UInt32 { mixer.fingerprint(of: properties) }

    /// A channel that deliveries will come on.
    func openChannel() -> Channel {
        channelLock.withLock {
            channelsOpened &+= 1
            return Channel(number: channelsOpened)
        }
    }

    /// What came on it and was not acknowledged comes again.
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

    func begin(_ key: DeduplicationKey, _ arrival: DuplicateCandidate) -> Admission {
        stripe(of: key).withLock { stripe in
            switch stripe.table.find(key) {
            case .nothing:
                stripe.table.begin(key, arrival)
                return .first
            case .delivering:
                return .busy
            case .settled(let isAccepted, let held, let time, let hasCopies):
                if arrival.isRepeated(held) {
                    stripe.table.noteTwin(key, on: arrival.channel)
                    return .done
                }
                if arrival.isAgain(held), let lost = lost(held, arrival, settledAt: time, hasCopies: hasCopies) {
                    // Once: a further one is a copy.
                    stripe.table.move(key, from: lost, to: arrival)
                    return .done
                }
                if arrival.waitID == 0 { stripe.table.noteCopy(key) }
                if isAccepted { return .accepted }
                stripe.table.begin(key, arrival)
                return .first
            }
        }
    }

    /// With which channel its acknowledgement was lost, or may have been, so that the broker delivers it again. In doubt
    /// it is taken for a copy: when there are some, only what was settled after the loss is surely the same.
    private func lost(
        _ held: DuplicateTable.Held, _ arrival: DuplicateCandidate, settledAt: MonotonicTime, hasCopies: Bool
    ) -> Channel? {
        let late = Duration.seconds(hasCopies ? 0 : Self.lateAcknowledgementSecondsMax)
        return lost(held, arrival) { settledAt.duration(to: $0) <= late }
    }

    private func lost(
        _ held: DuplicateTable.Held, _ arrival: DuplicateCandidate, when isSo: (MonotonicTime) -> Bool = { _ in true }
    ) -> Channel? {
        func isLost(_ channel: Channel) -> Bool {
            lossTime(of: channel).map { arrival.mayFollow($0) && isSo($0) } ?? false
        }
        if isLost(held.channel) { return held.channel }
        return held.twin.flatMap { isLost($0) ? $0 : nil }
    }

    /// Waits until the delivery that is on its way is settled. `nil`: begin anew, since that one was given back undecided,
    /// or has ended already, or went to the wait from which this one is back, or since `lane` ends (`endWaits`).
    func ending(of key: DeduplicationKey, _ arrival: DuplicateCandidate, in lane: ObjectIdentifier? = nil) async
        -> Ending?
    {
        var (isSame, isEarly) = (false, false)
        let verdict = await withUnsafeContinuation { (continuation: UnsafeContinuation<Verdict?, Never>) in
            let waiter = Waiter(lane: lane, continuation: continuation)
            let isWaiting = stripe(of: key).withLock { stripe in
                guard case .delivering(let held) = stripe.table.find(key) else { return false }
                if arrival.isRepeated(held) {
                    isSame = true
                    stripe.table.noteTwin(key, on: arrival.channel)
                } else if arrival.isAgain(held), let lost = lost(held, arrival) {
                    isSame = true
                    stripe.table.move(key, from: lost, to: arrival)
                } else if arrival.isBack(held) {
                    isEarly = true
                } else {
                    stripe.table.noteCopy(key)
                }
                stripe.wait(for: key, waiter)
                return true
            }
            if !isWaiting { waiter.resume(returning: nil) }
        }
        // There may be no other: if its publish was repeated, that one will be known by its name.
        guard let verdict, !isEarly else { return nil }
        return isSame ? .same : .shared(verdict)
    }

    /// The lane ends: its deliveries wait no longer for those of other lanes.
    func endWaits(of lane: ObjectIdentifier) {
        for stripe in stripes {
            for waiter in stripe.withLock({ $0.takeWaiters(of: lane) }) { waiter.resume(returning: nil) }
        }
    }

    /// It is about to be sent to a wait, which it may come back from before the broker has confirmed that.
    func sendToWait(_ key: DeduplicationKey, waitID: UInt32) {
        stripe(of: key).withLock { $0.table.sendToWait(key, waitID: waitID) }
    }

    /// What the verdict led to was confirmed by the broker.
    func settle(_ key: DeduplicationKey, _ verdict: Verdict, now: MonotonicTime) {
        let waiters = stripe(of: key).withLock { stripe in
            stripe.table.settle(key, isAccepted: verdict.isAccepted, now: now)
            return stripe.takeWaiters(key)
        }
        for waiter in waiters { waiter.resume(returning: verdict) }
    }

    /// It was given back undecided.
    func forget(_ key: DeduplicationKey) {
        let waiters = stripe(of: key).withLock { stripe in
            stripe.table.forget(key)
            return stripe.takeWaiters(key)
        }
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    private func stripe(of key: DeduplicationKey) -> DuplicateStripe {
        // The table takes the low bits of the other half.
        stripes[Int(truncatingIfNeeded: key.high) & (Self.stripeCount - 1)]
    }
}
