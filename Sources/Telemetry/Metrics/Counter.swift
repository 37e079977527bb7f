import Synchronization

/// A count that only grows. Every thread may use the count, which is a relaxed atomic.
public final class Counter: Sendable {
    private let total = Atomic<Int>(0)

    public init() {}

    public func add(_ count: Int = 1) { total.wrappingAdd(count, ordering: .relaxed) }

    public var value: Int { total.load(ordering: .relaxed) }
}
