// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computed torque as a controller of ros2_control: positions and velocities in, efforts out. References
// arrive on ~/reference, one point at a time; before the first one it holds its position. Hardware keeps
// applying the last effort it was given, so the controller never ends with an effort computed for a motion.

#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "computed_torque.hpp"
#include "controller_interface/controller_interface.hpp"
#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "realtime_tools/realtime_buffer.hpp"
#include "trajectory_msgs/msg/joint_trajectory_point.hpp"

namespace computed_torque {

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::return_type;

// A received reference with the number of the activation it is for, and its sequence number.
struct Arrived {
  Reference reference;
  unsigned activation = 0, number = 0;
};

class ComputedTorqueController : public controller_interface::ControllerInterface {
 public:
  CallbackReturn on_init() override {
    auto_declare<std::string>("fingerprint", STACKER_RECLAIMER_FINGERPRINT);
    auto_declare<std::vector<double>>("kp", std::vector<double>(size, 4.0));
    auto_declare<std::vector<double>>("kd", std::vector<double>(size, 4.0));
    auto_declare<double>("reference_timeout", 0.1);  // s
    auto_declare<std::string>("fault_action", "hold_gravity");
    return CallbackReturn::SUCCESS;
  }

  InterfaceConfiguration command_interface_configuration() const override {
    return interfaces({hardware_interface::HW_IF_EFFORT});
  }

  InterfaceConfiguration state_interface_configuration() const override {
    return interfaces({hardware_interface::HW_IF_POSITION, hardware_interface::HW_IF_VELOCITY});
  }

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override {
    const auto kp = get_node()->get_parameter("kp").as_double_array();
    const auto kd = get_node()->get_parameter("kd").as_double_array();
    if (kp.size() != size || kd.size() != size) {
      RCLCPP_ERROR(get_node()->get_logger(), "kp and kd need %d numbers each", size);
      return CallbackReturn::FAILURE;
    }
    const double timeout = get_node()->get_parameter("reference_timeout").as_double();
    if (!(timeout > 0.0)) {
      RCLCPP_ERROR(
          get_node()->get_logger(), "reference_timeout is %g s, expected more than 0", timeout);
      return CallbackReturn::FAILURE;
    }
    const auto action = get_node()->get_parameter("fault_action").as_string();
    if (action != "hold_gravity" && action != "zero") {
      RCLCPP_ERROR(
          get_node()->get_logger(), "fault_action is '%s', expected 'hold_gravity' or 'zero'",
          action.c_str());
      return CallbackReturn::FAILURE;
    }
    hold_gravity_ = action == "hold_gravity";
    try {
      law_ = std::make_unique<Law>(
          get_node()->get_parameter("fingerprint").as_string().c_str(),
          Eigen::Map<const Vector>(kp.data()), Eigen::Map<const Vector>(kd.data()), timeout);
    } catch (const std::runtime_error &error) {
      RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
      return CallbackReturn::FAILURE;
    }
    reference_topic_ = get_node()->create_subscription<trajectory_msgs::msg::JointTrajectoryPoint>(
        "~/reference", rclcpp::SystemDefaultsQoS(),
        [this](const trajectory_msgs::msg::JointTrajectoryPoint &point) { receive(point); });
    return CallbackReturn::SUCCESS;
  }

  // Called in the real-time thread, like the functions below up to update(): none waits for a lock.
  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override {
    Vector q, qd;
    if (!measure(q, qd)) return CallbackReturn::FAILURE;
    law_->hold(q);
    activation_ = ++activations_;
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override {
    leave();
    return CallbackReturn::SUCCESS;
  }

  // Afterwards the controller can be configured again.
  CallbackReturn on_error(const rclcpp_lifecycle::State &) override {
    leave();
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_shutdown(const rclcpp_lifecycle::State &) override {
    leave();
    return CallbackReturn::SUCCESS;
  }

  // Called in every cycle. After a failure all further updates fail until the controller is activated
  // again, even if the controller manager keeps calling.
  return_type update(const rclcpp::Time &, const rclcpp::Duration &period) override {
    Vector q, qd;
    if (activation_ != 0 && measure(q, qd)) {
      const Arrived &arrived = *arrived_.readFromRT();
      if (arrived.activation == activation_ && arrived.number != taken_) {
        taken_ = arrived.number;
        law_->follow(arrived.reference);
      }
      const Vector tau = law_->effort(q, qd, period.seconds());
      if (tau.allFinite() && command(tau)) return return_type::OK;
    }
    leave();
    return return_type::ERROR;
  }

 private:
  static InterfaceConfiguration interfaces(const std::vector<std::string> &kinds) {
    InterfaceConfiguration wanted{controller_interface::interface_configuration_type::INDIVIDUAL, {}};
    for (const auto &kind : kinds) {
      for (const char *joint : stacker_reclaimer_joint_names) {
        wanted.names.push_back(std::string(joint) + "/" + kind);
      }
    }
    return wanted;
  }

  // First all positions, then all velocities, in the order of the requested interfaces. NaN if an
  // interface cannot be read.
  double state(int k) const {
    return state_interfaces_[k].get_optional().value_or(std::numeric_limits<double>::quiet_NaN());
  }

  bool measure(Vector &q, Vector &qd) {
    for (int k = 0; k < size; ++k) {
      q[k] = state(k);
      qd[k] = state(size + k);
      if (!std::isfinite(q[k]) || !std::isfinite(qd[k])) {
        RCLCPP_ERROR_THROTTLE(
            get_node()->get_logger(), *get_node()->get_clock(), 1000,
            "%s: position %g, velocity %g, expected finite ones", stacker_reclaimer_joint_names[k],
            q[k], qd[k]);
        return false;
      }
    }
    return true;
  }

  // If one joint cannot be commanded, the others still are.
  bool command(const Vector &tau) {
    bool all = true;
    for (int k = 0; k < size; ++k) {
      if (!command_interfaces_[k].set_value(tau[k])) {
        RCLCPP_ERROR_THROTTLE(
            get_node()->get_logger(), *get_node()->get_clock(), 1000,
            "%s: the effort cannot be set", stacker_reclaimer_joint_names[k]);
        all = false;
      }
    }
    return all;
  }

  // Write the last efforts, which apply until another controller commands.
  void leave() {
    activation_ = 0;
    if (command_interfaces_.size() != size || state_interfaces_.size() != 2 * size) return;
    Vector q;
    for (int k = 0; k < size; ++k) q[k] = state(k);
    command(hold_gravity_ ? law_->rest(q) : Vector(Vector::Zero()));
  }

  void receive(const trajectory_msgs::msg::JointTrajectoryPoint &point) {
    if (point.positions.size() != size || point.velocities.size() != size ||
        point.accelerations.size() != size) {
      RCLCPP_ERROR(get_node()->get_logger(), "a reference needs %d numbers of each kind", size);
      return;
    }
    Arrived next;
    next.activation = activation_;
    if (next.activation == 0) {
      RCLCPP_WARN_THROTTLE(
          get_node()->get_logger(), *get_node()->get_clock(), 1000,
          "a reference was dropped: the controller is not active");
      return;
    }
    next.number = ++received_;
    next.reference.q = Eigen::Map<const Vector>(point.positions.data());
    next.reference.qd = Eigen::Map<const Vector>(point.velocities.data());
    next.reference.qdd = Eigen::Map<const Vector>(point.accelerations.data());
    const Reference &wanted = next.reference;
    if (!wanted.q.allFinite() || !wanted.qd.allFinite() || !wanted.qdd.allFinite()) {
      RCLCPP_ERROR(get_node()->get_logger(), "a reference is not finite");
      return;
    }
    arrived_.writeFromNonRT(next);
  }

  std::unique_ptr<Law> law_;
  bool hold_gravity_ = true;
  realtime_tools::RealtimeBuffer<Arrived> arrived_;
  // Number of the present activation, 0 if inactive. References of other activations are outdated.
  std::atomic<unsigned> activation_{0};
  unsigned activations_ = 0, received_ = 0, taken_ = 0;
  rclcpp::Subscription<trajectory_msgs::msg::JointTrajectoryPoint>::SharedPtr reference_topic_;
};

}  // namespace computed_torque

PLUGINLIB_EXPORT_CLASS(
    computed_torque::ComputedTorqueController, controller_interface::ControllerInterface)
