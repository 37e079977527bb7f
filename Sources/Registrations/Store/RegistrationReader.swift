/// A connection to a store for lookups. Each lane has its own.
///
/// Loop-bound. Callers use the reader only on its loop. The reader calls receivers on the same loop.
///
/// The reader is a base class, so that a lookup costs one virtual call.
open class RegistrationReader {
    public init() {}

    /// Connects, and reconnects until `close`.
    ///
    /// - Parameter onChange: Called with nil when the reader becomes ready, and with a fault when it cannot connect or
    ///   loses the connection.
    open func start(onChange: @escaping (StoreFault?) -> Void) { fatalError("start must be overridden") }

    /// Searches for devices. The lookups of a reader may complete in any order.
    open func lookUp(_ lookup: DeviceLookup) { fatalError("lookUp must be overridden") }

    /// Completes or fails all lookups, and closes the connection.
    open func close() async { fatalError("close must be overridden") }
}

/// Queries that a reader answers together.
open class DeviceLookup {
    /// Maximum number of queries in a lookup.
    public static let queriesMax = 64
    /// Maximum number of lookups that a lane has in flight.
    public static let lookupsInFlightMax = 4
    /// Maximum number of devices that a query finds. It exceeds the largest limit of devices per user.
    public static let devicesMax = 1000

    public let queries: [DeviceQuery]
    /// The faults of single queries, by index. Such a query has no devices in ``completed(_:)``.
    public private(set) var faults: [Int: StoreFault] = [:]

    public init(_ queries: [DeviceQuery]) {
        self.queries = queries
    }

    /// Records the fault of one query. The reader calls this function before ``completed(_:)``.
    public final func fail(query: Int, _ fault: StoreFault) { faults[query] = fault }

    /// Receives the devices of each query, in the order of the queries. The devices of a query are in the order of
    /// their keys. A row with a missing data key fails its query. Other rows that could not be decrypted are missing.
    open func completed(_ devices: [[FoundDevice]]) { fatalError("completed must be overridden") }

    open func failed(_ fault: StoreFault) { fatalError("failed must be overridden") }
}
