import EventLoop
import Registrations
import TestKit

/// Calls of a store that repeat until their time is over. Subclasses make the calls.
///
/// Use a load on its loop's thread only.
class StoreLoad {
    let loop: EventLoop
    private var end = MonotonicTime(nanoseconds: 0)
    private var inFlight = 0
    private var count = 0
    private var failure: StoreFault?
    private var continuation: UnsafeContinuation<Void, Never>?

    init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Makes a call. Subclasses report its outcome to `completed` or `failed` after this function has returned.
    func begin() { fatalError("begin must be overridden") }

    /// Repeats calls for a duration. Returns the number of completed units.
    ///
    /// - Parameter inFlightMax: The number of calls in flight.
    func run(for duration: Duration, inFlightMax: Int) async throws -> Int {
        (count, inFlight, end) = (0, inFlightMax, loop.now.monotonic + duration)
        await withUnsafeContinuation {
            continuation = $0
            for _ in 0..<inFlightMax { begin() }
        }
        if let failure { throw ProcessError("\(failure)") }
        return count
    }

    final func completed(_ units: Int) {
        count += units
        if failure == nil, loop.now.monotonic < end { begin() } else { ended() }
    }

    final func failed(_ fault: StoreFault) {
        failure = failure ?? fault
        ended()
    }

    private func ended() {
        inFlight -= 1
        guard inFlight == 0 else { return }
        continuation?.resume()
        continuation = nil
    }
}

/// The wait for the connection of a reader or writer. Used on one loop's thread only.
final class StoreOpening {
    private var continuation: UnsafeContinuation<StoreFault?, Never>?

    /// Waits until a reader or writer is ready.
    ///
    /// - Parameter start: Starts the reader or writer with the given receiver.
    /// - Throws: `ProcessError` with the first fault.
    static func wait(_ start: (@escaping (StoreFault?) -> Void) -> Void) async throws {
        let opening = StoreOpening()
        let fault = await withUnsafeContinuation {
            opening.continuation = $0
            start { opening.changed($0) }
        }
        if let fault { throw ProcessError("\(fault)") }
    }

    private func changed(_ fault: StoreFault?) {
        continuation?.resume(returning: fault)
        continuation = nil
    }
}
