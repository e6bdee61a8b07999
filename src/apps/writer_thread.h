// WriterThread: runs a controller's rounds, woken by work and by deadlines.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "control/controller.h"

namespace heddle {

// Runs controller.step() until stop() or until the controller was deposed. The controller's wake
// must lead to notify().
class WriterThread {
 public:
  explicit WriterThread(Controller& controller) : controller_{controller} {}
  ~WriterThread() { stop(); }
  WriterThread(const WriterThread&) = delete;
  WriterThread& operator=(const WriterThread&) = delete;

  void start();
  void notify();  // any thread
  void stop();    // returns when the thread has ended; what was acknowledged is in the store

 private:
  void run();

  Controller& controller_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool work_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace heddle
