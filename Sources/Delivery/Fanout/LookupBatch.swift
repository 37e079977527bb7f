import APNSProtocol
import EventLoop
import Registrations

/// A lookup for several searches.
final class LookupBatch: DeviceLookup {
    let entries: [DeviceFinder.Searches.Entry]
    let sentAt: MonotonicTime
    private let finder: DeviceFinder

    init(_ lookup: DeviceFinder.Searches.Lookup, of finder: DeviceFinder, sentAt: MonotonicTime) {
        (entries, self.finder, self.sentAt) = (lookup.entries, finder, sentAt)
        super.init(lookup.queries)
    }

    /// Returns the fault of the first query that has one; nil if all queries succeeded.
    func fault(of queries: Range<Int>) -> StoreFault? {
        faults.isEmpty ? nil : queries.lazy.compactMap { self.faults[$0] }.first
    }

    override func completed(_ devices: [[FoundDevice]]) { finder.completed(self, devices) }

    override func failed(_ fault: StoreFault) { finder.failed(self, fault) }
}

/// A lookup that tests an open breaker. Its devices are ignored.
final class StoreProbe: DeviceLookup {
    private static let query = DeviceQuery(
        app: "-", environment: .production, kind: .device, scope: nil, user: "-")

    private let finder: DeviceFinder

    init(of finder: DeviceFinder) {
        self.finder = finder
        super.init([Self.query])
    }

    override func completed(_ devices: [[FoundDevice]]) { finder.probeSucceeded() }

    override func failed(_ fault: StoreFault) { finder.probeFailed(fault) }
}
