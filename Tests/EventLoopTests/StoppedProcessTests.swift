import EventLoop
import Glibc
import TestKit
import Testing

@Suite struct StoppedProcessTests {
    /// When a stopped process continues, its timers are due. The loop first reports the bytes that arrived during the
    /// stop, so that no timer reports a timeout.
    @Test func `After a stop of the process, events precede due timers`() async {
        await #expect(processExitsWith: .success) {
            let hasBytes = try await onEpollLoop { loop in
                // The shell stops this process, writes a line, and lets the process continue.
                let shell = try #require(
                    popen("kill -STOP \(getpid()); sleep 3; echo line; kill -CONT \(getpid())", "r"))
                defer { pclose(shell) }
                var hasBytes = false
                let watch = try #require(
                    DescriptorWatch(
                        loop: loop, descriptor: fileno(shell), for: .readable, action: { hasBytes = true },
                        abandoned: {}))
                defer { watch.end() }
                var isLate = false
                while !isLate {
                    let due = loop.now.monotonic + .milliseconds(10)
                    await withUnsafeContinuation { continuation in
                        loop.schedule(at: due) {
                            isLate = due + .milliseconds(2500) < loop.now.monotonic
                            // Once the timer is late, its action must find the bytes.
                            if isLate && !hasBytes { exit(1) }
                            continuation.resume()
                        }
                    }
                    if hasBytes { break }
                }
                return hasBytes
            }
            exit(hasBytes ? 0 : 1)
        }
    }
}
