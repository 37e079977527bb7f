import APNS
import EventLoop
import Registrations
import Telemetry

/// A finder of devices for the requests of a lane. The searches of an event-loop iteration share lookups.
///
/// Without a connection to the store, searches wait. Once the breaker opens, the lane holds the requests of the
/// searches.
///
/// Loop-bound.
final class DeviceFinder {
    typealias Searches = LookupQueue<DeviceSearch>

    /// The wait before a failed lookup is repeated.
    private static let retryMilliseconds: Int64 = 100

    private let loop: EventLoop
    private let log: Log
    private let reader: RegistrationReader
    private let counters: FanoutCounters
    private let completeRemedy: @Sendable (String) -> String
    private var searches = Searches()
    private(set) var breaker: StoreBreaker
    private var keyFaults = KeyFaultReport()
    private let timer: DeadlineTimer
    private var isSendScheduled = false
    private var isUp = false
    private var isClosed = false

    init(_ context: LaneContext, _ reader: RegistrationReader, _ counters: FanoutCounters) {
        (loop, log, self.reader, self.counters) = (context.loop, context.log, reader, counters)
        completeRemedy = context.configuration.completeRemedy
        breaker = StoreBreaker(context.loop.now.monotonic)
        timer = DeadlineTimer(on: context.loop)
    }

    func start() {
        reader.start { [weak self] fault in self?.readerChanged(fault) }
        update(nil)
    }

    /// Ends the lookups in flight and closes the connection. Call this function at the end of a drain.
    func close() async {
        isClosed = true
        timer.cancel()
        if isUp { counters.storeUp.add(-1) }
        await reader.close()
    }

    /// Adds a search for the devices of one user to the next lookup that has room.
    func find(_ query: DeviceQuery, for search: DeviceSearch) {
        searches.append(search, query)
        scheduleSend()
    }

    /// Adds a search for devices to the next lookup that has room.
    ///
    /// - Parameter queries: At most `DeviceLookup.queriesMax` queries.
    func find(_ queries: [DeviceQuery], for search: DeviceSearch) {
        searches.append(search, queries)
        scheduleSend()
    }

    /// Removes and returns the searches that wait for the beginning of a lookup.
    func takeWaiting() -> [DeviceSearch] {
        var taken: [DeviceSearch] = []
        while let next = searches.popFirst() { taken.append(next) }
        return taken
    }

    private func scheduleSend() {
        guard !isClosed, !isSendScheduled, breaker.isConnected, !searches.isEmpty else { return }
        isSendScheduled = true
        loop.later { [self] in
            isSendScheduled = false
            send()
        }
    }

    private func send() {
        while !isClosed, breaker.isConnected, let lookup = searches.beginLookup() {
            counters.lookups.add()
            reader.lookUp(LookupBatch(lookup, of: self, sentAt: loop.now.monotonic))
        }
    }

    func completed(_ batch: LookupBatch, _ devices: [[FoundDevice]]) {
        searches.endLookup()
        breaker.lookupCompleted()
        counters.duration.observe(batch.sentAt, loop.now.monotonic)
        var first = 0
        for entry in batch.entries {
            let queries = first..<first + entry.queryCount
            if let fault = batch.fault(of: queries) {
                entry.search.held(failed(fault))
            } else {
                entry.search.completed(devices[queries])
            }
            first = queries.upperBound
        }
        scheduleSend()
    }

    /// Records the fault of a query. Returns the reason for which its request is held.
    private func failed(_ fault: StoreFault) -> HoldReason {
        let reason = HoldReason(counted(fault))
        if keyFaults.failed(reason, loop.now.monotonic) {
            log.warning(.registrationKeyMissing, [.error: .string(reason.sentence)])
        }
        return reason
    }

    /// Counts a fault, and returns it with a remedy that can be pasted.
    private func counted(_ fault: StoreFault) -> StoreFault {
        counters.failed(fault)
        return StoreFault(fault.code, completeRemedy(fault.sentence), errorClass: fault.errorClass)
    }

    func failed(_ batch: LookupBatch, _ fault: StoreFault) {
        searches.endLookup()
        update(breaker.lookupFailed(counted(fault), loop.now.monotonic))
        if let reason = breaker.holdReason {
            for entry in batch.entries { entry.search.held(reason) }
        } else {
            loop.schedule(after: .milliseconds(Self.retryMilliseconds)) { [self] in retry(batch) }
        }
        scheduleSend()
    }

    private func retry(_ batch: LookupBatch) {
        var first = 0
        for entry in batch.entries {
            let queries = first..<first + entry.queryCount
            if let reason = breaker.holdReason {
                entry.search.held(reason)
            } else {
                searches.append(entry.search, batch.queries[queries])
            }
            first = queries.upperBound
        }
        scheduleSend()
    }
}

/// The breaker of the store, and its status.
extension DeviceFinder {
    /// The route of the breaker in logs and in the status.
    static let route = "store"

    /// The reason for which the lane holds requests to users, and the start of the holds; nil if no reason is known.
    var holding: (cause: HoldReason, since: MonotonicTime)? {
        if let opening = breaker.opening { return (opening.cause, opening.since) }
        return keyFaults.report(loop.now.monotonic).map { ($0.cause, $0.since) }
    }

    private func readerChanged(_ fault: StoreFault?) {
        let now = loop.now.monotonic
        if let fault {
            update(breaker.disconnected(counted(fault), now))
        } else {
            breaker.connected(now)
            update(nil)
        }
    }

    /// Makes the next probe of the open breaker due now. Returns whether the breaker is open.
    func probeNow() -> Bool {
        guard breaker.opening != nil else { return false }
        breaker.probeNow(loop.now.monotonic)
        update(nil)
        return true
    }

    func probeSucceeded() { update(breaker.probeSucceeded(loop.now.monotonic)) }

    func probeFailed(_ fault: StoreFault) {
        breaker.probeFailed(counted(fault), loop.now.monotonic)
        update(nil)
    }

    private func timeout() { update(breaker.timeout(loop.now.monotonic)) }

    /// Handles a change of the breaker. Then begins a probe if one is due, arms the timer, and schedules lookups.
    private func update(_ change: StoreBreaker.Change?) {
        switch change {
        case .opened(let reason): opened(reason)
        case .closed(let opening): closed(opening)
        case nil: break
        }
        if isClosed { return }
        if breaker.isConnected != isUp {
            isUp.toggle()
            counters.storeUp.add(isUp ? 1 : -1)
        }
        if breaker.beginProbe(loop.now.monotonic) {
            log.info(.breakerProbing, [.route: .string(Self.route)])
            reader.lookUp(StoreProbe(of: self))
        }
        if let deadline = breaker.deadline { timer.arm(at: deadline, for: self) { $0.timeout() } }
        scheduleSend()
    }

    private func opened(_ reason: HoldReason) {
        log.warning(
            .breakerOpened,
            [.route: .string(Self.route), .apnsReason: .string(reason.code), .error: .string(reason.sentence)])
        for search in takeWaiting() { search.held(reason) }
    }

    private func closed(_ opening: StoreBreaker.Opening) {
        log.info(
            .breakerClosed,
            [
                .route: .string(Self.route), .apnsReason: .string(opening.cause.code),
                .durationMilliseconds: .milliseconds(opening.since.duration(to: loop.now.monotonic)),
            ])
    }
}

/// A search for devices, with the receiver of the found devices.
enum DeviceSearch {
    /// A search for the devices of a request's users.
    case users(DeliveryRecord, AudienceExpander)
    /// A search for the device of a child whose registration may have ended.
    case device(PendingPush, DeliveryRecord, AudienceExpander)

    /// Passes the found devices to the receiver.
    ///
    /// - Parameter devices: The devices of each query.
    fileprivate func completed(_ devices: ArraySlice<[FoundDevice]>) {
        switch self {
        case .users(let record, let expander): expander.found(devices, record)
        case .device(let push, let record, let expander):
            expander.rechecked(push, isLive: devices.contains { !$0.isEmpty }, record)
        }
    }

    fileprivate func held(_ reason: HoldReason) {
        switch self {
        case .users(let record, let expander): expander.hold(record, because: reason)
        case .device(let push, let record, _): record.pipeline.hold(push, because: reason, record)
        }
    }

    /// Requeues the delivery.
    func requeue() {
        switch self {
        case .users(let record, let expander): expander.requeue(record)
        case .device(let push, let record, _): record.pipeline.conclude(push, by: .requeue, record)
        }
    }
}
