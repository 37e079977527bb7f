/// Mistakes that a test asks for, to show that it would notice them. A worker has no way to.
package struct LaneDefects: Sendable {
    /// Deliveries prefer the global pool to the lane's thread.
    package var leavesTheExecutor = false

    package init(leavesTheExecutor: Bool = false) {
        self.leavesTheExecutor = leavesTheExecutor
    }
}
