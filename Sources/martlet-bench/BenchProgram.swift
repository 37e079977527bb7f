/// Who is measured: the floors, and Martlet.
enum BenchProgram: String, CaseIterable {
    case floorRelay = "floor-relay"
    case floorWorker = "floor-worker"
    case martlet

    /// nil: Martlet's worker.
    var floor: Floor? { Floor(rawValue: rawValue) }
}
