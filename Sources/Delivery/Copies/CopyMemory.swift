import Crypto
import EventLoop
import JSON

/// What a process remembers of the messages that it delivers, so that none is pushed twice because it came twice: from
/// its producer, from a wait queue, or from the broker after a lost channel. One for all lanes; where it has locks is
/// the one place on the way of a message that has any (decision 11).
///
/// A **copy** is a delivery of the same id, app and body as another. Most of the work is `CopyTable`'s, which is pure.
///
/// `@unchecked Sendable`: `lostChannels` and its neighbour are used under their lock.
public final class CopyMemory: @unchecked Sendable {
    /// One opening of a channel that deliveries came on.
    public struct Channel: Sendable, Hashable {
        let number: UInt32
        static let none = Channel(number: 0)
    }

    /// What becomes of a delivery.
    enum Admission: Equatable {
        /// Nothing stands against delivering it. It ends with `settled` or `forget`.
        case first
        /// Another delivery of it is on its way: wait for that, then go by its verdict.
        case copy
        /// It is the one on its way, whose channel was lost, or which came back early: settle it when that one is.
        case redelivery
        /// APNs has it: only a result is due.
        case accepted
        /// What became of it was published before its channel was lost: acknowledge it, and no more.
        case done
    }

    typealias Waiter = UnsafeContinuation<Verdict?, Never>

    /// Settled messages that are remembered at least; a stripe has a tenth more than its share, since keys do not spread
    /// evenly.
    public static let settledMax = 100_000
    /// Lost channels that redeliveries are compared with.
    static let lostChannelsMax = 256
    /// An acknowledgement that was decided so shortly before its channel was lost may not have arrived: it is gathered with
    /// others, then sent.
    static let lateAcknowledgementSecondsMax = 5
    private static let stripeCount = 16

    private let mixer = SecretMixer()
    private let stripes: [CopyStripe]
    private let channelLock = ThreadLock()
    private var channelsOpened: UInt32 = 0
    private var lostChannels: [(channel: Channel, at: MonotonicTime)] = []

    /// - Parameter settledMax: for tests.
    init(settledMax: Int) {
        let share = settledMax / Self.stripeCount
        stripes = (0..<Self.stripeCount).map { _ in CopyStripe(settledMax: share + share / 10 + 1) }
    }

    public convenience init() { self.init(settledMax: Self.settledMax) }

    func key(id: UUIDValue, app: Int, body: [UInt8]) -> CopyKey { mixer.copyKey(id: id, app: app, body: body) }

    /// A channel that deliveries will come on.
    func openChannel() -> Channel {
        channelLock.withLock {
            channelsOpened += 1
            return Channel(number: channelsOpened)
        }
    }

    /// What came on it and was not acknowledged comes again.
    func lose(_ channel: Channel, now: MonotonicTime) {
        channelLock.withLock {
            if lostChannels.count == Self.lostChannelsMax { lostChannels.removeFirst() }
            lostChannels.append((channel, now))
        }
    }

    private func lossTime(of channel: Channel) -> MonotonicTime? {
        channelLock.withLock { lostChannels.last { $0.channel == channel }?.at }
    }

    /// - Parameter isRedelivered: as the broker says; only then it can be what a lost channel held.
    func begin(_ key: CopyKey, on channel: Channel, after mark: WaitMark, isRedelivered: Bool) -> Admission {
        let coming = CopyTable.Held(channel: channel, mark: mark)
        return stripe(of: key).withLock { stripe in
            switch stripe.table.find(key) {
            case .nothing:
                stripe.table.begin(key, coming)
                return .first
            case .delivering(let held):
                if mark.isOurs, mark == held.mark || mark == held.next { return .redelivery }
                guard isAgain(mark, held.mark, isRedelivered), lossTime(of: held.channel) != nil else {
                    stripe.table.noteCopy(key)
                    return .copy
                }
                return .redelivery
            case .settled(let isAccepted, let held, let time, let hasCopies):
                if held.mark == mark, mark.isOurs { return .done }
                if isAgain(mark, held.mark, isRedelivered), wasLate(held.channel, settledAt: time, hasCopies: hasCopies)
                {
                    // Once: a further one is a copy.
                    stripe.table.move(key, to: coming)
                    return .done
                }
                if !mark.isOurs { stripe.table.noteCopy(key) }
                if isAccepted { return .accepted }
                stripe.table.begin(key, coming)
                return .first
            }
        }
    }

    /// Whether it can be what a lost channel held.
    private func isAgain(_ mark: WaitMark, _ held: WaitMark, _ isRedelivered: Bool) -> Bool {
        isRedelivered && mark == held || mark.isMoved(from: held)
    }

    /// Whether the broker delivers it again because its acknowledgement was lost with the channel, or may have been. In
    /// doubt it is taken for a copy: when there are some, only what was settled after the loss is surely the same.
    private func wasLate(_ channel: Channel, settledAt: MonotonicTime, hasCopies: Bool) -> Bool {
        guard let loss = lossTime(of: channel) else { return false }
        let late = Duration.seconds(hasCopies ? 0 : Self.lateAcknowledgementSecondsMax)
        return settledAt.duration(to: loss) <= late
    }

    /// Waits until the delivery that is on its way is settled: its verdict, or nil when this one should begin anew, since
    /// that was given back undecided, or has ended already.
    ///
    /// - Parameter replacing: what stands for it from now on, where it is the same.
    func verdict(on key: CopyKey, replacing coming: CopyTable.Held? = nil) async -> Verdict? {
        await withUnsafeContinuation { waiter in
            let isWaiting = stripe(of: key).withLock { stripe in
                guard case .delivering(let held) = stripe.table.find(key) else { return false }
                // What came back early stands for nothing: the wait that will be confirmed is still to come.
                let isEarly = coming.map { $0.mark.isOurs && $0.mark == held.next } ?? true
                if let coming, !isEarly { stripe.table.move(key, to: coming) }
                stripe.wait(for: key, waiter)
                return true
            }
            if !isWaiting { waiter.resume(returning: nil) }
        }
    }

    /// It is about to be sent to a wait, which it may come back from before the broker has confirmed that.
    func sendToWait(_ key: CopyKey, waitID: UInt16) {
        stripe(of: key).withLock { $0.table.sendToWait(key, WaitMark(waitID: waitID, isQuarantined: false)) }
    }

    /// What the verdict led to was confirmed by the broker.
    func settle(_ key: CopyKey, _ verdict: Verdict, now: MonotonicTime) {
        let waiters = stripe(of: key).withLock { stripe in
            stripe.table.settle(key, isAccepted: verdict.isAccepted, now: now)
            return stripe.takeWaiters(key)
        }
        for waiter in waiters { waiter.resume(returning: verdict) }
    }

    /// It was given back undecided.
    func forget(_ key: CopyKey) {
        let waiters = stripe(of: key).withLock { stripe in
            stripe.table.forget(key)
            return stripe.takeWaiters(key)
        }
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    private func stripe(of key: CopyKey) -> CopyStripe {
        // The table takes the low bits of the other half.
        stripes[Int(truncatingIfNeeded: key.high) & (Self.stripeCount - 1)]
    }
}
