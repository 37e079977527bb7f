import COpenSSL
import EventLoop
import Glibc
import Synchronization
import Testing
import Threads

/// Deliberate errors that a sanitizer must find.
///
/// `deploy/test` selects one of these tests with the variable MARTLET_CANARY to verify that the sanitizer is active.
@Suite struct SanitizerCanaryTests {
    private static let mistake = getenv("MARTLET_CANARY").map { String(cString: $0) }

    @Test(.enabled(if: mistake == "race")) func race() async throws {
        nonisolated(unsafe) let shared = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        shared.initialize(to: 0)
        let done = Done()
        try DetachedThread.start {
            shared.pointee += 1
            done.flag.store(true, ordering: .relaxed)
        }
        await DetachedThread.run {
            // A relaxed load orders nothing, so the two increments race in any interleaving.
            while !done.flag.load(ordering: .relaxed) { sched_yield() }
            shared.pointee += 1
        }
        shared.deallocate()
    }

    @Test(.enabled(if: mistake == "overflow")) func overflow() {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 1)
        memset(bytes, 0, 17)
        bytes.deallocate()
    }

    @Test(.enabled(if: mistake == "leak")) func leak() {
        UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 1).storeBytes(of: 1, as: UInt8.self)
    }

    /// Leaks of memory that OpenSSL allocates are also found.
    @Test(.enabled(if: mistake == "openssl-leak")) func leakInOpenSSL() {
        #expect(martlet_generate_p256_key() != nil)
    }

    private final class Done: Sendable {
        let flag = Atomic(false)
    }
}
